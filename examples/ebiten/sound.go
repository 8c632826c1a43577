package main

import (
	"encoding/binary"
	"math"

	"github.com/hajimehoshi/ebiten/v2/audio"
)

const sampleRate = 48000

// speaker plays a tone for each event.
type speaker struct {
	context *audio.Context // nil: mute
	tones   map[[2]bool][]byte
	played  int
}

func newSpeaker(mute bool) *speaker {
	s := &speaker{tones: map[[2]bool][]byte{
		{true, false}: tone(660, 220), {true, true}: tone(660, 1320),
		{false, false}: tone(330, 110), {false, true}: tone(330, 660),
	}}
	if !mute {
		s.context = audio.NewContext(sampleRate)
	}
	return s
}

// shot plays a shot: that of the player is higher, and one that hits rises.
func (s *speaker) shot(own, hit bool) {
	s.played++
	if s.context != nil {
		s.context.NewPlayerFromBytes(s.tones[[2]bool{own, hit}]).Play()
	}
}

// tone returns an eighth of a second that slides from one frequency to another and
// fades, as Ebitengine plays it: two channels of 16 bits.
func tone(from, to float64) []byte {
	const n = sampleRate / 8
	b, phase := make([]byte, 0, n*4), 0.0
	for i := range n {
		at := float64(i) / n
		phase += 2 * math.Pi * (from + (to-from)*at) / sampleRate
		v := uint16(int16(6000 * (1 - at) * math.Sin(phase)))
		b = binary.LittleEndian.AppendUint16(b, v)
		b = binary.LittleEndian.AppendUint16(b, v)
	}
	return b
}
