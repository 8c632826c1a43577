package main

import (
	"encoding/binary"
	"math"

	"github.com/hajimehoshi/ebiten/v2/audio"
)

const sampleRate = 48000

// speaker plays a tone for each shot.
type speaker struct {
	context *audio.Context     // nil: there is no sound
	tones   map[[2]bool][]byte // by whether the shot is the player's own, and whether it hit
	played  int                // how many shots were played
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

// shot plays a shot. Those of the window's player have a higher tone, and the tone of a shot that
// hits rises.
func (s *speaker) shot(own, hit bool) {
	s.played++
	if s.context != nil {
		s.context.NewPlayerFromBytes(s.tones[[2]bool{own, hit}]).Play()
	}
}

// tone returns a tone of an eighth of a second that slides from one frequency to another and
// fades, in the format that Ebitengine plays: two channels of 16 bits.
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
