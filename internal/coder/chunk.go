package coder

// Chunk is the position of a record's groups of flags and its bits.
type Chunk struct {
	From, M int32 // From is the first group, and M is the number of groups.
	Pos, N  int32 // Pos is the first bit, and N is the number of bits.
	Cost    int32 // Cost is the cost of the groups, in 1/256 bit.
}

// Open starts a record, and Close ends it.
func (c *Encoder) Open() Chunk {
	c.Flags.Next()
	c.Bits.align()
	return Chunk{From: int32(len(c.Flags.Groups)), Pos: int32(8 * len(c.Bits.Buf))}
}

// Close ends the record that Open started.
func (c *Encoder) Close(at *Chunk) {
	c.Flags.Next()
	at.N = int32(c.Bits.Len()) - at.Pos
	c.Bits.align()
	groups := c.Flags.Groups[at.From:]
	at.M, at.Cost = int32(len(groups)), int32(groupsCost(groups))
}

// Cost returns the greatest size of everything coded so far, in 1/256 bit.
func (c *Encoder) Cost() uint64 {
	return uint64(c.Bits.Len())*256 + uint64(groupsCost(c.Flags.Groups)) + uint64(intervalCost(c.Flags.width, 31))
}

// Count makes the decoder count what it reads, for [Decoder.Cost], from the next Reset on.
func (d *Decoder) Count(on bool) { d.Flags.counts = on }

// Cost returns the size of everything read since the Reset, as [Encoder.Cost] counts it, in
// 1/256 bit. It is 0 for flags that were read without [Decoder.Count].
func (d *Decoder) Cost() uint64 {
	return uint64(d.pos)*256 + d.Flags.ended + uint64(intervalCost(d.Flags.left, 31))
}
