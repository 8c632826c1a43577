package snapshot

import (
	"encoding/binary"
	"math/bits"

	"github.com/foretick/foretick/internal/coder"
	"github.com/foretick/foretick/schema"
)

const (
	// headerBits is the most bits of the tick, the length of the flags, the marks, the flush and the usual
	// distances.
	headerBits = 40 + 24 + 12 + 8 + 33 + 13 + 13
	spansLeast = 3 + 33 + 33 // spansLeast is the most bits of a list of one span.
	// maxMisfits is how many records may fail to fit, after the first, before chooseSome stops.
	maxMisfits = 8
	// maxUnfit is how many records that are longer than the whole budget do not count as misfits.
	maxUnfit = 64
)

// Append appends the snapshot of the Source's current tick in at most room bytes, and fills rec with its
// contents. The viewer's own entities come first. Entities that do not fit are postponed: the snapshot lists
// them, and they go earlier next time. Entities of [Everyone] gain twice as fast, unless [Source.SetFirst] puts
// them first. If room is too small for any snapshot (about 32 bytes), nothing is appended. Call it at most once
// a tick, after End.
func (s *Sender) Append(dst []byte, room int, rec *Sent) []byte {
	return s.AppendBudget(dst, room, room, rec)
}

// AppendBudget is Append with a budget besides the room. Only the viewer's own
// entities, and groups that hold some of them, may exceed the budget. So a rate limit
// never delays entities that the viewer predicts.
func (s *Sender) AppendBudget(dst []byte, budget, room int, rec *Sent) []byte {
	rec.Reset()
	budget = min(budget, room)
	if s.closed || s.src.tick == 0 || s.src.open {
		return dst
	}
	if room*8 < headerBits+3+spansLeast+2+8 {
		s.count.TooSmall++
		return dst
	}
	rec.tick, rec.view = s.src.tick, s.view
	s.appends++
	s.borrowScratch()
	s.follow()
	s.lookAtVisibility()
	s.sent.beginSnapshot(s.src.tick)
	copy(s.sent.aged(0).changed, s.chosen)
	clear(s.chosen)
	s.refer()
	own := s.choose(room*8, budget*8)
	s.postpone()

	from := len(dst)
	if s.twin != nil {
		dst = s.copyTwin(dst, rec)
	} else {
		kept := s.keepTwin()
		dst = s.writeSnapshot(dst, budget, room, own, rec)
		if kept != nil {
			kept.bytes = append(kept.bytes[:0], dst[from:]...)
		}
	}
	s.count.Snapshots++
	s.count.Bytes += uint64(len(dst) - from)
	if p := s.cfg.Profile; p != nil {
		p.total += uint64(len(dst) - from)
	}
	return dst
}

// appendTick appends the tick. Once the viewer is known to have received a recent
// snapshot, it appends only the lowest 15 bits.
func (s *Sender) appendTick(dst []byte) []byte {
	t := s.src.tick
	if s.newest != 0 && t-s.newest < 1<<13 {
		return binary.LittleEndian.AppendUint16(dst, uint16(t&0x7fff))
	}
	dst = binary.LittleEndian.AppendUint16(dst, uint16(t&0x7fff|0x8000))
	return append(dst, byte(t>>15), byte(t>>23), byte(t>>31))
}

// writeSnapshot appends the snapshot: its tick, the length of the flags, the flags, and the
// bits.
func (s *Sender) writeSnapshot(dst []byte, budget, room int, own bool, rec *Sent) []byte {
	h := &s.head
	h.Flags.Reset()
	h.Syms = h.Syms[:0]
	h.Bits.Reset(h.Bits.Buf[:0])
	h.Flag(coder.CtxComplete, len(s.runs) == 0)
	h.Flag(coder.CtxOwn, own)
	h.Bits.Golomb(s.usual[0])
	if s.usual[0] != 0 {
		steady := s.usual[1] == ordinaryGaps[1] && s.usual[2] == ordinaryGaps[2]
		h.Flag(coder.CtxSteady, steady)
		if !steady {
			h.Bits.Write(uint64(s.usual[1]), 6)
			if s.usual[1] != 0 {
				h.Bits.Write(uint64(s.usual[2]), 6)
			}
		}
	}
	s.writeLeaving(&h.Bits, rec)
	s.writeRecords(rec)
	s.writePieces(rec)

	h.Flags.Next()
	s.rc.Reset(s.rc.Out[:0])
	s.rc.Encode(h.Flags.Groups)
	flags := s.rc.Finish()
	if h.Tally != nil {
		h.Tally.CountFlags(h.Syms)
	}
	if len(s.runs) > 0 {
		least := h.Bits.Len() + spansLeast // the list of postponed ids is within the budget, if possible
		rest := max(budget*8, min(room*8, (5+3+len(flags))*8+least)) - (5+3+len(flags))*8
		if cap(rec.late) == 0 {
			rec.late = make([]span, 0, 16) // room for as many runs as are usual
		}
		rec.late = append(rec.late, coarsen(s.runs, rest-h.Bits.Len())...)
		writeSpans(&h.Bits, rec.late)
	}
	dst = s.appendTick(dst)
	dst = binary.AppendUvarint(dst, uint64(len(flags)))
	dst = append(dst, flags...)
	return append(dst, h.Bits.Bytes()...)
}

// writeRecords writes a flag for each expected record that says whether it is there. Then it writes the
// expected records that are there, and then the other records with their wire ids.
func (s *Sender) writeRecords(rec *Sent) {
	h := &s.head
	if s.usual[2] != 0 {
		h.Flag(coder.CtxExpecting, s.expecting)
	}
	if s.expecting {
		for _, x := range s.expected {
			h.Flag(int(x.ctx), s.chosen.has(x.wire))
		}
		for i := range s.cands {
			if c := &s.cands[i]; c.listed && s.chosen.has(c.wire) {
				s.writeRecord(c)
			}
		}
	}
	at := schema.WireID(0)
	for i := range s.cands {
		c := &s.cands[i]
		if c.listed || !s.chosen.has(c.wire) {
			continue
		}
		h.Flag(coder.CtxMore, true)
		h.Flag(coder.CtxNext, c.wire == at+1)
		if c.wire != at+1 {
			h.Bits.Gap(uint32(c.wire - at - 2))
		}
		at = c.wire
		s.writeRecord(c)
	}
	h.Flag(coder.CtxMore, false)
	s.noteChosenSent(rec)
}

// noteChosenSent notes the chosen records as sent.
func (s *Sender) noteChosenSent(rec *Sent) {
	for i, m := range s.chosen {
		rec.count += bits.OnesCount64(m)
		s.count.Spawns += uint64(bits.OnesCount64(m &^ s.held[i]))
		s.told[i] |= m
	}
	s.count.Records += uint64(rec.count)
	rec.seq, rec.records = s.sent.seq, append(rec.records[:0], s.chosen...)
	s.sent.endSnapshot(s.chosen, len(s.runs) == 0)
}

func (s *Sender) writeRecord(c *candidate) {
	if s.cfg.Profile != nil {
		s.profile(c)
	}
	h, from := &s.head, &s.code
	if c.kept {
		from = &s.cache.code
	}
	h.Flags.Next()
	h.Flags.Groups = append(h.Flags.Groups, from.Flags.Groups[c.at.From:c.at.From+c.at.M]...)
	h.Bits.Splice(from.Bits.Buf, int(c.at.Pos), int(c.at.N))
	if h.Tally != nil {
		h.Syms = append(h.Syms, s.code.Syms[c.sym:c.sym+c.k]...)
	}
}
