package oracletest

import (
	"encoding/binary"
	"math"
	"time"

	"github.com/foretick/foretick"
	"github.com/foretick/foretick/internal/probe"
	"github.com/foretick/foretick/preview"
)

// alone plays the game in a preview. No tape can hold its local player, so there are only digests.
func alone() (digest, error) {
	s := newSums(30)
	g := newRich(rules{balls: true, text: true, paced: true, family: true, level: 100})(func(what string, numbers ...uint64) {
		s.add(worlds, []byte(what), numbers...)
	})
	var p *preview.Preview
	p, err := preview.New(serverConfig{Protocol: g.protocol(), OnTick: func(f *foretick.ServerFrame) {
		s.add(worlds, nil, uint64(f.Tick), probe.OfServer(p.Server()).StateHash())
		s.tick(f.Tick)
	}}, clientConfig{Sample: g.sampler(41)})
	if err != nil {
		return digest{}, err
	}
	g.serves(p.Server())
	g.level(p.Server().Frame(), nil)
	now := epoch
	for frame := range 60 * 6 {
		switch frame {
		case 120:
			p.Edit(g.call("heal"))
		case 200:
			p.StepTick()
		case 210:
			p.Pause(false)
		case 250:
			p.SetTimeScale(0.5)
		}
		v := p.Step(now)
		b := binary.LittleEndian.AppendUint32(nil, math.Float32bits(v.Fraction))
		s.add(screens, b, uint64(v.Tick), uint64(v.State), probe.OfServer(p.Server()).Hash())
		now = now.Add(time.Second / 60)
	}
	return s.digest("preview"), p.Close()
}
