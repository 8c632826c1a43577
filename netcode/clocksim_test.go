package netcode_test

import (
	"container/heap"
	"math"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/foretick/foretick/netcode"
)

// path is one direction of a model network: latency, uniform jitter on top,
// independent loss (or bursts of a mean length).
type path struct {
	latency, jitter time.Duration
	loss            float64
	burst           int
	repair          time.Duration // a lost datagram comes that much later, and those behind it wait, as with TCP; 0: never
	newest          time.Duration // arrival, with repair
	rng             *rand.Rand
	bad             bool
	queue           datagrams
	n               int
}

type datagram struct {
	at time.Duration
	n  int
	b  []byte
}

type datagrams []datagram

func (q datagrams) Len() int { return len(q) }
func (q datagrams) Less(i, j int) bool {
	return q[i].at < q[j].at || q[i].at == q[j].at && q[i].n < q[j].n
}
func (q datagrams) Swap(i, j int) { q[i], q[j] = q[j], q[i] }
func (q *datagrams) Push(x any)   { *q = append(*q, x.(datagram)) }
func (q *datagrams) Pop() any {
	x := (*q)[len(*q)-1]
	*q = (*q)[:len(*q)-1]
	return x
}

func (p *path) lost() bool {
	if p.burst <= 1 {
		return p.rng.Float64() < p.loss
	}
	leave := 1 / float64(p.burst)
	if p.bad {
		p.bad = p.rng.Float64() >= leave
	} else {
		p.bad = p.rng.Float64() < leave*p.loss/(1-p.loss)
	}
	return p.bad
}

func (p *path) send(now time.Duration, b []byte) {
	d := p.latency
	if p.lost() {
		if p.repair == 0 {
			return
		}
		d += p.repair
	}
	if p.jitter > 0 {
		d += time.Duration(p.rng.Int64N(int64(p.jitter)))
	}
	p.n++
	at := now + d
	if p.repair > 0 {
		at = max(at, p.newest)
		p.newest = at
	}
	heap.Push(&p.queue, datagram{at, p.n, append([]byte(nil), b...)})
}

func (p *path) receive(now time.Duration) (datagram, bool) {
	if len(p.queue) == 0 || p.queue[0].at > now {
		return datagram{}, false
	}
	return heap.Pop(&p.queue).(datagram), true
}

// match is a model server and a client around the package's own parts, in
// virtual time.
type match struct {
	rate, interval, frames int
	history                int
	delay                  int           // ClockConfig.Delay
	reach                  float64       // ClockConfig.Reach
	share                  float64       // ClockConfig.LateShare
	snapshotShare          float64       // ClockConfig.SnapshotLateShare
	least                  time.Duration // ClockConfig.SnapshotBuffer
	polled                 bool          // the server reads its socket at ticks only
	up, down               path
	seed                   uint64
	change                 func(m *match, now time.Duration) // called every frame
	stopped                bool                              // the client's process
	serverSlip             float64                           // ticks that the server has lost
	clockDrift             float64                           // the client's clock runs fast by this share

	server, client *netcode.Conn
	sender         *netcode.CommandSender
	buffer         *netcode.CommandBuffer
	clock          *netcode.Clock
	log            []consumed
	frameLog       []frame
	arrivals       []arrival
	greeted        bool
	greetedAt      time.Duration
	issuedAt       map[netcode.Tick]float64 // client's offset at the tick
	sampled        map[netcode.Tick]time.Duration
	confirm        []time.Duration
	resets         []time.Duration
	noRoom         int
	tap            func(b []byte) // sees every packet sent
	next           netcode.Tick
	firstCommand   netcode.Tick
	newest         netcode.Tick
}

type arrival struct {
	newest netcode.Tick
	at     float64
}

type consumed struct {
	tick    netcode.Tick
	missing bool
}

type frame struct {
	at      time.Duration
	t       netcode.Time
	newest  netcode.Tick
	starved bool
}

func newMatch(rate int, rtt, jitter time.Duration, loss float64, seed uint64) *match {
	m := &match{rate: rate, interval: 1, frames: 60, history: 64, seed: seed}
	for i, p := range []*path{&m.up, &m.down} {
		*p = path{latency: rtt / 2, jitter: jitter, loss: loss, rng: rand.New(rand.NewPCG(seed, uint64(i)))}
	}
	return m
}

const startTick = 1000

func (m *match) run(length time.Duration) {
	m.server, m.client = netcode.NewConn(netcode.Config{}), netcode.NewConn(netcode.Config{})
	m.sender = netcode.NewCommandSender(4, netcode.CommandConfig{})
	m.buffer = netcode.NewCommandBuffer(4, 128)
	m.clock = netcode.NewClock(netcode.ClockConfig{TickRate: m.rate, SnapshotInterval: m.interval, History: m.history, Delay: m.delay, Reach: m.reach, LateShare: m.share, SnapshotLateShare: m.snapshotShare, SnapshotBuffer: m.least})
	m.issuedAt = map[netcode.Tick]float64{}
	m.sampled = map[netcode.Tick]time.Duration{}
	m.next = startTick
	step := time.Second / time.Duration(m.frames)
	phase := time.Duration(float64(step) * math.Mod(float64(m.seed)*0.6180339887, 1))
	nextFrame := phase
	for {
		at := m.serverTime(m.next)
		if at >= length && nextFrame >= length {
			return
		}
		if at <= nextFrame {
			m.serve(at)
			continue
		}
		if m.change != nil {
			m.change(m, nextFrame)
		}
		if !m.stopped {
			m.frame(nextFrame)
		}
		nextFrame += step
	}
}

// serverTime is when the server executes tick k.
func (m *match) serverTime(k netcode.Tick) time.Duration {
	return time.Duration((float64(k-startTick) + m.serverSlip) * float64(time.Second) / float64(m.rate))
}

func (m *match) serverTicks(now time.Duration) float64 {
	return startTick + now.Seconds()*float64(m.rate) - m.serverSlip
}

func (m *match) serve(now time.Duration) {
	for d, ok := m.up.receive(now); ok; d, ok = m.up.receive(now) {
		if m.server.Receive(d.at, d.b) != nil {
			continue
		}
		m.greeted = true
		for msg, ok := m.server.NextMessage(); ok; msg, ok = m.server.NextMessage() {
			at := m.serverTicks(d.at)
			if m.polled {
				at = float64(m.next)
			}
			m.note(msg.Body, at)
			if err := m.buffer.Read(msg.Body, at); err != nil {
				panic(err)
			}
		}
	}
	_, ok := m.buffer.Take(m.next)
	m.log = append(m.log, consumed{m.next, !ok})
	p := m.server.Begin(now)
	if m.greeted && int(m.next)%m.interval == 0 {
		early, has := m.buffer.Early()
		h := netcode.SnapshotHeader{Tick: m.next, Early: early, HasEarly: has, CommandAck: m.buffer.Ack()}
		p.Message(netcode.MessageSnapshot, h.Append(nil))
	}
	m.next++
	_, b := p.Finish()
	m.sent(b)
	m.down.send(now, b)
}

// note keeps, for the oracle, when a packet with everything up to its newest
// command came.
func (m *match) note(body []byte, at float64) {
	newest, _ := netcode.NewestCommand(body, netcode.Tick(at))
	m.arrivals = append(m.arrivals, arrival{newest, at})
}

// lateness is, per tick, how late its command's first possible arrival came
// after the client made it, in server ticks, had every packet held all before.
func (m *match) lateness() map[netcode.Tick]float64 {
	late := map[netcode.Tick]float64{}
	for _, a := range m.arrivals {
		for k := a.newest; k > a.newest-32; k-- {
			made, ok := m.issuedAt[k]
			if !ok {
				continue
			}
			if z, had := late[k]; !had || a.at-float64(k)+made < z {
				late[k] = a.at - float64(k) + made
			}
		}
	}
	return late
}

func (m *match) frame(now time.Duration) {
	local := time.Duration(float64(now) * (1 + m.clockDrift))
	for d, ok := m.down.receive(now); ok; d, ok = m.down.receive(now) {
		if m.client.Receive(local, d.b) != nil {
			continue
		}
		for msg, ok := m.client.NextMessage(); ok; msg, ok = m.client.NextMessage() {
			h, _, err := netcode.ParseSnapshotHeader(msg.Body)
			if err != nil {
				panic(err)
			}
			m.sender.Acked(h.CommandAck, netcode.Newer(h.CommandAck, h.Tick))
			m.clock.SetLoss(m.client.LossIn())
			m.clock.Snapshot(local, h.Tick, h.Early, h.HasEarly, m.client.RTT(), h.Lost)
			if netcode.Newer(h.Tick, m.newest) || m.newest == 0 {
				m.newest = h.Tick
			}
		}
	}
	for f, ok := m.client.NextFate(); ok; f, ok = m.client.NextFate() {
		m.sender.Fate(f.Delivered)
	}
	t := m.clock.Advance(local)
	m.greet(now, local, t)
	m.frameLog = append(m.frameLog, frame{at: now, t: t, newest: m.newest, starved: t.Render == m.newest})
	if !t.Started {
		return
	}
	if t.Reset {
		m.resets = append(m.resets, now)
	}
	for k, at := range m.sampled {
		if !netcode.Newer(k, m.newest) {
			m.confirm = append(m.confirm, now-at)
			delete(m.sampled, k)
		}
	}
	if t.Commands == 0 {
		return
	}
	if m.firstCommand == 0 {
		m.firstCommand = t.Command
	}
	for i := t.Commands - 1; i >= 0; i-- {
		k := t.Command - netcode.Tick(i)
		m.sender.Push(netcode.Command{Tick: k, Render: t.Render, Fraction: uint8(t.RenderFraction * 255), Data: []byte{byte(k), 1, 2, 3}})
		m.sampled[k] = now
		m.issuedAt[k] = float64(k) - m.serverTicks(now)
	}
	p := m.client.Begin(local)
	if body := m.sender.Append(nil, p.Room()); len(body) > 0 {
		p.Message(netcode.MessageCommands, body)
	} else {
		m.noRoom++
	}
	_, b := p.Finish()
	m.sent(b)
	m.up.send(now, b)
}

// greet sends a packet a tick until the clock runs, as a handshake does.
func (m *match) greet(now, local time.Duration, t netcode.Time) {
	if t.Started || now-m.greetedAt < time.Second/time.Duration(m.rate) && now > 0 {
		return
	}
	m.greetedAt = now
	_, b := m.client.Begin(local).Finish()
	m.sent(b)
	m.up.send(now, b)
}

// inputs judges the ticks that the server executed in [from, to).
type inputs struct {
	ticks, missing int
	depth, oracle  float64 // mean slack kept, and the smallest constant slack's mean, in ticks
	floor          float64 // share that no slack would have saved
	held           float64 // share that the mean slack kept, held all the time, would have missed
}

func (m *match) inputs(from, to time.Duration) (r inputs) {
	var late []float64
	lateness := m.lateness()
	sumOffset, n := 0.0, 0
	for _, c := range m.log {
		at := m.serverTime(c.tick)
		if at < from || at >= to {
			continue
		}
		r.ticks++
		if c.missing {
			r.missing++
		}
		if z, ok := lateness[c.tick]; ok {
			late = append(late, z)
			sumOffset += m.issuedAt[c.tick]
			n++
		} else {
			r.floor++
			late = append(late, math.Inf(1))
		}
	}
	r.floor /= float64(max(1, r.ticks))
	if n == 0 {
		return r
	}
	for _, z := range late {
		if z > sumOffset/float64(n) {
			r.held += 1 / float64(len(late))
		}
	}
	slices.Sort(late)
	spare := int(0.003 * float64(len(late)))
	needed := late[len(late)-1-spare]
	mean := 0.0
	for _, z := range late {
		if !math.IsInf(z, 1) {
			mean += z
		}
	}
	mean /= float64(n)
	r.depth, r.oracle = sumOffset/float64(n)-mean, needed-mean
	return r
}

func (m *match) confirmQuantile(q float64) time.Duration {
	s := slices.Clone(m.confirm)
	slices.Sort(s)
	if len(s) == 0 {
		return 0
	}
	return s[int(q*float64(len(s)-1))]
}

func (m *match) sent(b []byte) {
	if m.tap != nil {
		m.tap(b)
	}
}
