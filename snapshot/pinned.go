package snapshot

import (
	"github.com/foretick/foretick/internal/coder"
	"github.com/foretick/foretick/internal/quantise"
	"github.com/foretick/foretick/schema"
)

// pinned is a record in pieces.
type pinned struct {
	serial uint32
	wire   schema.WireID
	life   uint32
	view   uint32
	aud    quantise.Audience
	from   schema.Tick // from is the value of Sender.from when the record was pinned.
	tick   schema.Tick
	own    bool
	words  int
	units  int
	left   int // left counts the pieces that are not delivered.
	picked int // picked counts the pieces in the snapshot at hand.
	code   coder.Encoder
	pieces []piece

	greatest, share int // greatest is the component that takes most of the record, and share is its bits.
}

// piece is a part of a record.
type piece struct {
	from, n int32 // from is the first unit, and n the number of units.
	at      coder.Chunk
	state   pieceState
	sent    uint32 // sent is the Sent.seq of the snapshot that last carried the piece.
}

type pieceState uint8

const (
	pieceWaits pieceState = iota
	piecePicked
	pieceFlies
	pieceHeld
)

// sentPiece names a piece in a [Sent].
type sentPiece struct {
	serial uint32
	i      int32
}

// pin codes an entity's value of this tick in pieces.
func (s *Sender) pin(w schema.WireID, e *entity) *pinned {
	c, g, a := s.cut, &s.shown[w], s.auds[w]
	x := &pinned{}
	if n := len(c.spare); n > 0 {
		x, c.spare = c.spare[n-1], c.spare[:n-1]
	}
	c.serial++
	*x = pinned{serial: c.serial, wire: w, life: g.life, view: s.view, aud: a, from: s.from[w], tick: s.src.tick, own: s.own.has(w), code: x.code, pieces: x.pieces[:0]}
	k := &x.code
	k.Tables, k.Tally = s.src.reg.Tables, nil
	k.Flags.Reset()
	k.Bits.Reset(k.Bits.Buf[:0])
	cutter := pieceWriter{s: s, x: x, e: e, limit: min(pieceBits, s.alone/2)}
	cutter.openPiece()
	reg, mask := s.src.reg, e.mask(e.head)
	visible, off, words := reg.VisibleMask(mask, a), 0, e.lane(e.head, a)
	for i := mask.Next(0); i >= 0; i = mask.Next(i + 1) {
		p := reg.Comps[i]
		if visible.Has(i) {
			cutter.component(i, p, words[off:off+p.Words])
		}
		off += p.Words
	}
	cutter.closePiece()
	x.left, x.units = len(x.pieces), cutter.at
	return x
}

// pieceWriter cuts a record.
type pieceWriter struct {
	s     *Sender
	x     *pinned
	e     *entity
	r     recordWriter
	limit int // limit is the number of bits at which a piece is full.
	start int // start is the cost in bits when the piece at hand began.
	ref   int
	at    int // at is the number of units before the component at hand.
	next  int // next is the first unit of the piece at hand.
	piece coder.Chunk
}

func (p *pieceWriter) openPiece() {
	p.piece = p.x.code.Open()
	p.start = int(p.x.code.Cost() / 256)
	p.r = p.s.encodeHead(&p.x.code, &p.s.shown[p.x.wire], p.e, p.s.auds[p.x.wire])
	p.r.ref = p.ref
}

func (p *pieceWriter) pieceFull() bool { return int(p.x.code.Cost()/256)-p.start >= p.limit }

// endPiece ends the piece before a unit.
func (p *pieceWriter) endPiece(unit int) {
	p.x.code.Close(&p.piece)
	p.x.pieces = append(p.x.pieces, piece{from: int32(p.next), n: int32(unit - p.next), at: p.piece})
	p.next, p.ref = unit, p.r.ref
}

func (p *pieceWriter) component(i int, c *quantise.Plan, words []int32) {
	coded, before := c.Coding(p.r.a), int(p.x.code.Cost()/256)
	for k := 0; k < len(coded.Units); {
		if p.at+k > p.next && p.pieceFull() {
			p.endPiece(p.at + k)
			p.openPiece()
		}
		b := p.r.reg.BaseOf(&p.r.base, &p.r.packs, i, p.r.a)
		k = p.r.pieceUnits(c, coded, k, &b, words, p.pieceFull)
	}
	p.at += len(coded.Units)
	if share := int(p.x.code.Cost()/256) - before; share > p.x.share {
		p.x.greatest, p.x.share = i, share
	}
}

func (p *pieceWriter) closePiece() { p.endPiece(p.at) }

// bits returns the most bits of a piece in a snapshot.
func (p *piece) bits() int {
	return int(p.at.N) + int(p.at.Cost+255)/256 + coder.GolombBits(uint32(p.from)) + coder.GolombBits(uint32(p.n))
}

// size returns the bytes of all pieces.
func (x *pinned) size() int {
	n := 0
	for i := range x.pieces {
		n += x.pieces[i].bits()
	}
	return (n + 7) / 8
}
