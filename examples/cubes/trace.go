package main

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
)

const (
	cubes     = 901
	cubeWords = 8
	hz        = 60
)

// Cube is the state of a cube in one frame: its rotation in smallest-three form with nine
// bits each, its position at 512 units a metre, and whether it belongs to the clump around
// the player.
type Cube struct {
	Turn        [4]int32 `net:"quat,bits=9"`
	At          [3]int32 `net:"vec,min=-262144,max=262143"`
	Interacting bool
}

// Frame is the state of all cubes at one time.
type Frame []Cube

var errTrace = errors.New("cubes: not a trace: frames of 901 cubes of eight little-endian int32 each are expected")

// writeTrace writes frames in the format that readTrace reads.
func writeTrace(w io.Writer, frames []Frame) error {
	var b []byte
	for _, f := range frames {
		b = b[:0]
		for i := range f {
			c, clump := &f[i], int32(0)
			if c.Interacting {
				clump = 1
			}
			for _, v := range [cubeWords]int32{c.Turn[0], c.Turn[1], c.Turn[2], c.Turn[3], c.At[0], c.At[1], c.At[2], clump} {
				b = binary.LittleEndian.AppendUint32(b, uint32(v))
			}
		}
		if _, err := w.Write(b); err != nil {
			return err
		}
	}
	return nil
}

// readTrace reads the frames of a recorded match.
func readTrace(r io.Reader) ([]Frame, error) {
	b, err := io.ReadAll(r)
	if err != nil {
		return nil, err
	}
	const size = cubes * cubeWords * 4
	if len(b) == 0 || len(b)%size != 0 {
		return nil, fmt.Errorf("%w; got %d bytes", errTrace, len(b))
	}
	frames := make([]Frame, len(b)/size)
	for i := range frames {
		frames[i] = make(Frame, cubes)
		for j := range frames[i] {
			var w [cubeWords]int32
			for k := range w {
				w[k] = int32(binary.LittleEndian.Uint32(b[((i*cubes+j)*cubeWords+k)*4:]))
			}
			c := &frames[i][j]
			copy(c.Turn[:], w[:4])
			copy(c.At[:], w[4:7])
			c.Interacting = w[7] != 0
			if w[0] < 0 || w[0] > 3 || max(w[1], w[2], w[3]) > 511 || min(w[1], w[2], w[3]) < 0 || max(w[4], w[5], w[6]) > 262143 || min(w[4], w[5], w[6]) < -262144 || w[7]>>1 != 0 {
				return nil, fmt.Errorf("%w; cube %d of frame %d is %v", errTrace, j, i, w)
			}
		}
	}
	return frames, nil
}
