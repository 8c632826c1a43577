//go:build display

// Ebitengine's packages need a display already to be loaded: package screen starts one for
// these tests.
package main

import "testing"

// A tone has its length, is not silent, and ends softly.
func TestTone(t *testing.T) {
	b := tone(440, 220)
	loud := 0
	for i := 0; i < len(b); i += 4 {
		if b[i] != b[i+2] || b[i+1] != b[i+3] {
			t.Fatal("the channels differ")
		}
		loud = max(loud, int(int16(uint16(b[i])|uint16(b[i+1])<<8)))
	}
	last := int(int16(uint16(b[len(b)-4]) | uint16(b[len(b)-3])<<8))
	if len(b) != sampleRate/8*4 || loud < 5000 || last > 50 || last < -50 {
		t.Errorf("%d bytes, loudest %d, last %d", len(b), loud, last)
	}
}
