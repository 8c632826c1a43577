package web

import (
	"encoding/binary"
	"errors"
	"math"

	"github.com/foretick/foretick"
	"github.com/foretick/foretick/lagcomp"
)

// The truth is what a server sends pages about itself, over a separate connection: where it has each
// body now, and how it judged each shot. A player could cheat with it, so only -web sends it. It does
// not pass through the page's bad network, so it shows where the server has the bodies now.

// TruthBody is a player's body on the server.
type TruthBody struct {
	Player foretick.PlayerID
	Dead   bool
	// Slides is true if a late input moved the body: other players receive it with an offset that
	// fades.
	Slides      bool
	X, Y, Angle float32
}

// TruthShot is how the server judged a shot.
type TruthShot struct {
	Player       foretick.PlayerID
	Tick         foretick.Tick
	Hit          foretick.PlayerID // 0: nobody
	X, Y, X2, Y2 float32           // the line of fire
	Rewound      float32           // ticks that the shot was judged in the past
	// Used has the hitboxes that the server judged by, Had those of its present.
	Used, Had []lagcomp.Sphere
}

const (
	truthTick byte = 1 + iota
	truthShot

	// truthBodies is the most bodies in a message, and truthSpheres the most hitboxes of one kind. So a
	// message fits into any datagram.
	truthBodies  = 60
	truthSpheres = 30

	truthDead   byte = 1
	truthSlides byte = 2

	bodySize   = 15
	sphereSize = 12
)

var errTruth = errors.New("web: a message of the truth is cut short")

func putFloat(b []byte, v float32) []byte {
	return binary.LittleEndian.AppendUint32(b, math.Float32bits(v))
}

func float(b []byte) float32 { return math.Float32frombits(binary.LittleEndian.Uint32(b)) }

// PutBodies appends a message with bodies of a tick, and returns the bodies that did not fit.
func PutBodies(b []byte, tick foretick.Tick, bodies []TruthBody) (message []byte, left []TruthBody) {
	n := min(len(bodies), truthBodies)
	b = append(b, truthTick)
	b = binary.LittleEndian.AppendUint32(b, tick)
	for _, body := range bodies[:n] {
		b = binary.LittleEndian.AppendUint16(b, uint16(body.Player))
		flags := byte(0)
		if body.Dead {
			flags |= truthDead
		}
		if body.Slides {
			flags |= truthSlides
		}
		b = append(b, flags)
		b = putFloat(putFloat(putFloat(b, body.X), body.Y), body.Angle)
	}
	return b, bodies[n:]
}

// PutShot appends a message with a shot. It leaves out hitboxes that do not fit.
func PutShot(b []byte, s *TruthShot) []byte {
	b = append(b, truthShot)
	b = binary.LittleEndian.AppendUint16(b, uint16(s.Player))
	b = binary.LittleEndian.AppendUint32(b, s.Tick)
	b = binary.LittleEndian.AppendUint16(b, uint16(s.Hit))
	for _, v := range []float32{s.X, s.Y, s.X2, s.Y2, s.Rewound} {
		b = putFloat(b, v)
	}
	for _, list := range [][]lagcomp.Sphere{s.Used, s.Had} {
		list = list[:min(len(list), truthSpheres)]
		b = append(b, byte(len(list)))
		for _, ball := range list {
			b = putFloat(putFloat(putFloat(b, ball.X), ball.Y), ball.R)
		}
	}
	return b
}

// truthReader receives the contents of messages.
type truthReader interface {
	bodies(tick foretick.Tick, b TruthBody)
	shot(s TruthShot)
}

// readTruth reads a message.
func readTruth(b []byte, to truthReader) error {
	switch {
	case len(b) >= 5 && b[0] == truthTick && (len(b)-5)%bodySize == 0:
		tick := binary.LittleEndian.Uint32(b[1:])
		for b = b[5:]; len(b) > 0; b = b[bodySize:] {
			to.bodies(tick, TruthBody{
				Player: foretick.PlayerID(binary.LittleEndian.Uint16(b)),
				Dead:   b[2]&truthDead != 0, Slides: b[2]&truthSlides != 0,
				X: float(b[3:]), Y: float(b[7:]), Angle: float(b[11:]),
			})
		}
		return nil
	case len(b) >= 31 && b[0] == truthShot:
		return readShot(b, to)
	}
	return errTruth
}

func readShot(b []byte, to truthReader) error {
	s := TruthShot{
		Player: foretick.PlayerID(binary.LittleEndian.Uint16(b[1:])), Tick: binary.LittleEndian.Uint32(b[3:]),
		Hit: foretick.PlayerID(binary.LittleEndian.Uint16(b[7:])),
		X:   float(b[9:]), Y: float(b[13:]), X2: float(b[17:]), Y2: float(b[21:]), Rewound: float(b[25:]),
	}
	b = b[29:]
	for _, list := range []*[]lagcomp.Sphere{&s.Used, &s.Had} {
		if len(b) == 0 || len(b)-1 < int(b[0])*sphereSize {
			return errTruth
		}
		n := int(b[0])
		for b = b[1:]; n > 0; n, b = n-1, b[sphereSize:] {
			*list = append(*list, lagcomp.Sphere{X: float(b), Y: float(b[4:]), R: float(b[8:])})
		}
	}
	to.shot(s)
	return nil
}
