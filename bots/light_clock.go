package bots

import (
	"encoding/binary"
	"time"

	"github.com/foretick/foretick/netcode"
)

const (
	leadTarget = 2.0 // how many ticks early commands should reach the server
	leastSpeed = 0.5 // least speed of the bot's clock; if the server is slower, jumps keep the lead
	leadGain   = 0.1 // share of the clock's error that one snapshot corrects
	leadJump   = 8.0 // error in ticks above which the clock jumps

	settle  = 200 * time.Millisecond // time between two jumps, in addition to a round trip
	measure = 8                      // ticks over which the speed of the server's ticks is measured
)

// snapshot corrects the bot's clock and acknowledges commands by what a snapshot reports.
func (l *Light) snapshot(h netcode.SnapshotHeader, rest []byte) {
	l.stats.Snapshots++
	tick, ok := tickOf(rest, l.newest)
	if !ok {
		l.stats.Malformed++
		return
	}
	if int32(tick-l.newest) > 0 {
		l.newest = tick
		l.measureSpeed(h.Lost)
	}
	l.commands.Acked(tick+h.CommandAck, int32(h.CommandAck) > 0)
	if !h.HasEarly {
		return
	}
	early := float64(h.Early) / 256
	l.stats.Lead = time.Duration(early / float64(l.game.rate) * float64(time.Second))
	miss := leadTarget - early
	if miss > leadJump || miss < -leadJump {
		if l.now >= l.settles { // before that, reports are about commands made before the last jump
			l.at += miss
			l.settles = l.now + l.conn.RTT() + settle
		}
		return
	}
	l.at += miss * leadGain
}

// measureSpeed measures the speed of the server's ticks while the server loses some. lost is the
// number of lost ticks that a snapshot reports, in quarters of a tick.
func (l *Light) measureSpeed(lost uint32) {
	ticks := l.newest - l.fromTick
	switch {
	case l.speed == 0 || lost <= l.lost:
		l.speed, l.fromTick, l.fromLost = 1, l.newest, lost
	case ticks >= measure:
		l.speed = max(leastSpeed, float64(ticks)/(float64(ticks)+float64(lost-l.fromLost)/4))
		l.fromTick, l.fromLost = l.newest, lost
	}
	l.lost = lost
}

// tickOf returns the tick of a snapshot. A short tick means the one nearest to newest.
func tickOf(b []byte, newest uint32) (uint32, bool) {
	if len(b) < 2 {
		return 0, false
	}
	low := uint32(binary.LittleEndian.Uint16(b))
	if low&0x8000 == 0 {
		d := int16((low-newest)<<1) >> 1
		return newest + uint32(int32(d)), true
	}
	if len(b) < 5 {
		return 0, false
	}
	return low&0x7FFF | (uint32(b[2])|uint32(b[3])<<8|uint32(b[4])<<16)<<15, true
}

// mostDue bounds the commands made at once, after a stall.
const mostDue = 8

// command makes the command of each tick that the clock has reached.
func (l *Light) command() {
	l.at += (l.now - l.atTime).Seconds() * float64(l.game.rate) * l.speed
	l.atTime = l.now
	until := uint32(l.at)
	if int32(until-l.made) > mostDue || int32(until-l.made) < -mostDue {
		l.made = until - 1
	}
	for ; int32(until-l.made) > 0; l.stats.Commands++ {
		l.made++
		l.packed = l.pack(l.packed[:0], l.made)
		l.commands.Push(netcode.Command{Tick: l.made, Render: l.newest - 2, Data: l.packed})
	}
}
