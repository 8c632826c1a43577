package client

import (
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"

	"github.com/foretick/foretick"
	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/internal/cause"
	"github.com/foretick/foretick/netcode"
	"github.com/foretick/foretick/prediction"
	"github.com/foretick/foretick/transport/sim"
)

// For an earlier run of missing commands the client itself knows whether the run changed anything. It
// did not if the client's commands repeated themselves, if both ends agreed, or if the client had no
// command yet.
func TestEarlierRun(t *testing.T) {
	type keys struct{ Left bool }
	p, cmd := foretick.NewProtocol("runs", 1), new(ecs.Component[keys])
	p.Command(cmd)
	net := sim.NewNetwork(1)
	c, err := New(Config{Protocol: p, Transport: net.Dial(net.Listen(), sim.LAN, sim.LAN), Sample: Sample(cmd, func(View) keys { return keys{} })})
	require.NoError(t, err)
	tl := &c.timeline
	for k, packed := range map[foretick.Tick][]byte{10: {1}, 11: {1}, 12: {1}, 13: {0}, 14: {0}} {
		tl.input.history.Put(k).packed = packed
	}
	tl.input.first = 10
	for name, row := range map[string]struct {
		run    cause.EarlierRun
		last   foretick.Tick
		agreed foretick.Tick
		own    bool
	}{
		"it repeated itself":       {cause.EarlierRun{Run: 1, How: prediction.Repeated}, 12, 0, true},
		"it let go":                {cause.EarlierRun{Run: 2, How: prediction.Repeated}, 13, 0, false},
		"the server ran none":      {cause.EarlierRun{Run: 1, How: prediction.Neutral}, 12, 0, false},
		"both agreed since":        {cause.EarlierRun{Run: 2, How: prediction.Neutral}, 13, 13, true},
		"both agreed within":       {cause.EarlierRun{Run: 2, How: prediction.Neutral}, 13, 12, false},
		"ahead of its commands":    {cause.EarlierRun{Run: 5, How: prediction.Neutral}, 9, 0, true},
		"into its first commands":  {cause.EarlierRun{Run: 5, How: prediction.Neutral}, 10, 0, false},
		"longer than is known":     {cause.EarlierRun{Run: cause.MaxRun, How: prediction.Repeated}, 14, 0, false},
		"from before a tick below": {cause.EarlierRun{Run: cause.MaxRun, How: prediction.Other}, 3, 0, true},
	} {
		tl.agreed.newest = row.agreed
		require.Equal(t, row.own, tl.agreed.repeatedItself(&row.run, row.last), name)
	}
}

// The server repeats a command without its one-shots. Even if the note no longer has the command that
// the server ran, the client finds that its own commands were the same.
func TestRepetitionIsItsOwn(t *testing.T) {
	type keys struct {
		Left bool
		Fire bool `net:"oneshot"`
	}
	p, cmd := foretick.NewProtocol("runs", 1), new(ecs.Component[keys])
	p.Command(cmd)
	net := sim.NewNetwork(1)
	c, err := New(Config{Protocol: p, Transport: net.Dial(net.Listen(), sim.LAN, sim.LAN), Sample: Sample(cmd, func(View) keys { return keys{} })})
	require.NoError(t, err)
	tl := &c.timeline
	for k, v := range map[foretick.Tick]keys{10: {Left: true, Fire: true}, 11: {Left: true}, 12: {Left: true}, 13: {Left: true, Fire: true}} {
		tl.input.history.Put(k).packed = compiledOf(p).Command.Schema.Pack(unsafe.Pointer(&v), nil)
	}
	tl.input.first = 10
	old := func(last foretick.Tick) *cause.Note {
		return &cause.Note{Substituted: 40, Run: last - 11, How: prediction.Repeated}
	}
	require.False(t, old(12).HasStandIn())
	require.True(t, tl.agreed.likeItsOwn(old(12), 12))
	require.False(t, tl.agreed.likeItsOwn(old(13), 13), "it fired again")
	require.False(t, tl.agreed.likeItsOwn(&cause.Note{Substituted: 40, How: prediction.Neutral}, 12))

	// The client pressed nothing before this run either, and the run ends with zero commands.
	zero := compiledOf(p).Command.Schema.Pack(unsafe.Pointer(&keys{}), nil)
	for k := foretick.Tick(20); k < 26; k++ {
		tl.input.history.Put(k).packed = zero
	}
	late := &cause.Note{Substituted: 1, Run: 4, How: prediction.Neutral, StandIn: zero}
	require.True(t, tl.agreed.likeItsOwn(late, 25))
	late.How = prediction.Decayed
	require.False(t, tl.agreed.likeItsOwn(late, 25), "the game's own function may have made something else of it")
	late.How = prediction.Neutral
	held := keys{Left: true}
	tl.input.history.Put(20).packed = compiledOf(p).Command.Schema.Pack(unsafe.Pointer(&held), nil)
	require.False(t, tl.agreed.likeItsOwn(late, 25), "the server repeated what was pressed before")
}

// The command of a tick was made twice. The server ran the first if a snapshot shows that it had not
// received the second, and the second if it had received that one a tick before.
func TestWhichOfTwoCommandsRan(t *testing.T) {
	for name, row := range map[string]struct {
		in   tickInput
		want foretick.Tick
	}{
		"made once":                              {tickInput{}, 0},
		"not known":                              {tickInput{replaced: true}, 20},
		"the first":                              {tickInput{replaced: true, late: true}, 20},
		"the second":                             {tickInput{replaced: true, arrived: 19}, 0},
		"either":                                 {tickInput{replaced: true, arrived: 20}, 20},
		"no newer view":                          {tickInput{replaced: true, arrived: 10, stays: true}, 20},
		"neither":                                {tickInput{replaced: true, late: true, missed: true}, 0},
		"none that is newer, but for one before": {tickInput{replaced: true, arrived: 10, stays: true, suspect: true}, 20},
		"late, and then came":                    {tickInput{replaced: true, arrived: 25, late: true}, 20},
	} {
		ip := input{history: prediction.NewHistory[tickInput](64)}
		*ip.history.Put(20) = row.in
		last, _, _ := ip.remadeBy(15, 22)
		require.Equal(t, row.want, last, name)
	}
	ip := input{history: prediction.NewHistory[tickInput](64)}
	for k := range foretick.Tick(4) {
		*ip.history.Put(20 + k) = tickInput{replaced: true, late: k == 1, arrived: 20 + k}
	}
	last, ticks, certain := ip.remadeBy(15, 25)
	require.EqualValues(t, 21, last, "the newest that is certain")
	require.EqualValues(t, 2, ticks)
	require.True(t, certain)

	ip = input{history: prediction.NewHistory[tickInput](64), remade: []foretick.Tick{20, 21, 22}}
	for k := range foretick.Tick(3) {
		*ip.history.Put(20 + k) = tickInput{replaced: true}
	}
	ip.sending(65535, 20) // three packets, whose numbers wrap around
	ip.sending(0, 20)
	ip.sending(1, 21) // the last of them has no room for the oldest command
	ip.delivered(65534, 19)
	ip.delivered(1, 19)
	require.Zero(t, ip.history.Find(20).arrived, "neither carried it")
	require.EqualValues(t, 19, ip.history.Find(21).arrived)
	ip.ran(20)
	require.True(t, ip.history.Find(20).late)
	ip.delivered(0, 21)
	require.EqualValues(t, 19, ip.history.Find(22).arrived, "the first acknowledgement counts")
	require.Zero(t, ip.history.Find(20).arrived, "it is settled")

	for had, late := range map[netcode.Seq]bool{4: true, 5 + netcode.AckReach: true, 6 + netcode.AckReach: false} {
		ip = input{history: prediction.NewHistory[tickInput](64), remade: []foretick.Tick{20}}
		*ip.history.Put(20) = tickInput{replaced: true}
		ip.sending(5, 20)
		ip.delivered(had, 20)
		ip.ran(20)
		require.Equal(t, late, ip.history.Find(20).late, "the newest acknowledged is %d", had)
	}
	for lost, late := range map[netcode.Seq]bool{4: true, 5: false, 6: true} {
		ip = input{history: prediction.NewHistory[tickInput](64), remade: []foretick.Tick{20}}
		*ip.history.Put(20) = tickInput{replaced: true}
		ip.sending(5, 20)
		ip.lost(lost) // and yet it may arrive
		ip.delivered(4, 20)
		ip.ran(20)
		require.Equal(t, late, ip.history.Find(20).late, "%d counts as lost", lost)
	}
}

// The server cannot have run a command that its client never sent. If a tick's command is made three
// times, the server may have the first. If that one is made again, the result is the same.
func TestCommandThatNeverLeftItsClient(t *testing.T) {
	type keys struct{ X int8 }
	now := keys{}
	p, cmd := foretick.NewProtocol("thrice", 1), new(ecs.Component[keys])
	p.Command(cmd)
	net := sim.NewNetwork(1)
	c, err := New(Config{Protocol: p, Transport: net.Dial(net.Listen(), sim.LAN, sim.LAN), Sample: Sample(cmd, func(View) keys { return now })})
	require.NoError(t, err)
	ip := &c.input
	ip.clearInput()
	makes := func(x int8, view foretick.Tick) *tickInput {
		now.X = x
		looking := screenFrame{shown: shownTime{tick: view}}
		ip.readInput(looking)
		ip.command(20, looking, 0)
		return ip.history.Find(20)
	}
	packs := func(x int8) []byte { return compiledOf(p).Command.Schema.Pack(unsafe.Pointer(&keys{x}), nil) }
	require.False(t, makes(7, 10).replaced)
	require.True(t, makes(1, 11).replaced)
	in := makes(2, 12) // the command before was not sent
	require.True(t, in.replaced)
	require.Equal(t, packs(7), in.first)
	require.False(t, makes(7, 13).replaced, "the server has no other")
	require.True(t, makes(3, 14).replaced)
	ip.sending(5, 20)
	in = makes(4, 12)
	require.True(t, in.replaced)
	require.Equal(t, packs(3), in.first, "that was sent")
	require.True(t, in.stays, "its view is older")
	require.True(t, makes(7, 15).replaced)
	require.True(t, makes(3, 16).replaced, "the server may have the very first")
}

// A command that was sent, and is made and sent again, may have arrived the first time. A snapshot
// without the packets of the second time proves nothing.
func TestCommandMadeAgainAsItWas(t *testing.T) {
	type keys struct{ X int8 }
	now := keys{}
	p, cmd := foretick.NewProtocol("again", 1), new(ecs.Component[keys])
	p.Command(cmd)
	net := sim.NewNetwork(1)
	c, err := New(Config{Protocol: p, Transport: net.Dial(net.Listen(), sim.LAN, sim.LAN), Sample: Sample(cmd, func(View) keys { return now })})
	require.NoError(t, err)
	ip := &c.input
	ip.clearInput()
	makes := func(x int8, view foretick.Tick) *tickInput {
		now.X = x
		looking := screenFrame{shown: shownTime{tick: view}}
		ip.readInput(looking)
		ip.command(20, looking, 0)
		return ip.history.Find(20)
	}
	certain := func() bool {
		ip.delivered(40, 20)
		ip.ran(20)
		sure, perhaps := ip.history.Find(20).ranFirst(20)
		require.True(t, perhaps)
		return sure
	}
	makes(7, 10)
	makes(1, 11)
	ip.sending(41, 20)
	require.True(t, certain(), "the server had no packet with the second")
	makes(1, 12)
	ip.sending(50, 20)
	require.False(t, certain(), "packet 41 may have arrived since")
	makes(1, 9)
	require.False(t, certain(), "no newer view, but an earlier one was")
	makes(2, 13)
	require.True(t, ip.history.Find(20).several, "7, 1 or 2")
	ip.sending(60, 20)
	require.False(t, certain())
}

// If the server ran a tick without any command, it ran neither of the two that were made.
func TestNeitherOfTwoCommandsRan(t *testing.T) {
	ip := input{base: &base{p: &compiled{}}, history: prediction.NewHistory[tickInput](64)}
	ip.p.TickRate, ip.cfg.History = 30, 64
	for k := foretick.Tick(10); k < 30; k++ {
		*ip.history.Put(k) = tickInput{replaced: true, late: true}
	}
	ip.missed(12, 25)
	last, ticks, certain := ip.remadeBy(10, 25)
	require.EqualValues(t, 11, last)
	require.EqualValues(t, 2, ticks)
	require.True(t, certain)
	last, _, _ = ip.remadeBy(12, 25)
	require.Zero(t, last)
	ip.missed(1, 29)
	last, _, _ = ip.remadeBy(10, 29)
	require.Zero(t, last)
}

// When later notes join several runs into one, the client keeps its earlier findings about each run.
func TestRunsThatWereItsOwnStaySo(t *testing.T) {
	type keys struct{ X int8 }
	p, cmd := foretick.NewProtocol("runs", 1), new(ecs.Component[keys])
	p.Command(cmd)
	net := sim.NewNetwork(1)
	c, err := New(Config{Protocol: p, Transport: net.Dial(net.Listen(), sim.LAN, sim.LAN), Sample: Sample(cmd, func(View) keys { return keys{} })})
	require.NoError(t, err)
	tl, size := &c.timeline, compiledOf(p).Command.Schema.PackedSize()
	packs := func(x int8) []byte { return compiledOf(p).Command.Schema.Pack(unsafe.Pointer(&keys{x}), nil) }
	for k := foretick.Tick(10); k < 40; k++ {
		tl.input.history.Put(k).packed = packs(int8(k / 8))
	}
	tl.input.first = 10
	explains := func(at foretick.Tick, n cause.Note) prediction.Cause {
		_, err := tl.reasons.Arrive(n.Append(nil), size)
		require.NoError(t, err)
		require.True(t, tl.reasons.Snapshot())
		tl.agreed.takeNote(at)
		w := prediction.Misprediction{Tick: at}
		tl.reasons.Explain(&w, &tl.causes)
		return w.Cause
	}
	merged := cause.Note{Substituted: 1, Run: 1, How: prediction.Repeated, Earlier: cause.EarlierRun{Gap: 6, Run: 8, How: prediction.Other}, StandIn: packs(4)}
	tl.agreed.newest = 16
	require.Equal(t, prediction.Code, explains(20, cause.Note{Substituted: 1, Run: 2, How: prediction.Repeated, StandIn: packs(2)}))
	require.Equal(t, prediction.Code, explains(28, cause.Note{Substituted: 2, Run: 1, How: prediction.Repeated, Earlier: cause.EarlierRun{Gap: 6, Run: 2, How: prediction.Repeated}, StandIn: packs(3)}))
	require.Equal(t, prediction.Code, explains(35, merged), "18 to 20, 26 and 27 were told one by one")
	tl.agreed.standIns = 20
	require.Equal(t, prediction.Input, explains(36, merged), "of 21 to 28 it knows nothing")
}
