package netcode

import "hash/fnv"

// MaxSchema bounds the bytes of a schema: with what is in front of them they fit
// in one reliable message.
const MaxSchema = MaxReliable - 1 - 8 - 1 - MaxSchemaName

// SchemaReply answers a SchemaRequest. It travels as a reliable message of
// KindSchemaReply, in as many fragments as it takes, once, until acknowledged.
type SchemaReply struct {
	Known bool   // false: there is no such schema; Hash and Name are the request's, Data is empty
	Hash  uint64 // SchemaHash of Data
	Name  string // at most MaxSchemaName bytes
	Data  []byte // at most MaxSchema bytes; aliases the message when parsed
}

// SchemaHash is the hash by which a schema is asked for: FNV-1a, 64 bits, as
// that of a protocol.
func SchemaHash(data []byte) uint64 {
	h := fnv.New64a()
	_, _ = h.Write(data) // never fails
	return h.Sum64()
}

// Append writes r behind dst. A name or data beyond their bounds are cut, which
// the receiver then refuses, since the hash does not fit: see [SchemaLibrary.Add].
func (r SchemaReply) Append(dst []byte) []byte {
	known := byte(0)
	if r.Known {
		known = 1
	}
	name := r.Name[:min(len(r.Name), MaxSchemaName)]
	dst = le.AppendUint64(append(dst, known), r.Hash)
	dst = append(append(dst, byte(len(name))), name...)
	return append(dst, r.Data[:min(len(r.Data), MaxSchema)]...)
}

// ParseSchemaReply reads what Append wrote. Error: ErrMalformed, also when the
// data is not what the hash says.
func ParseSchemaReply(b []byte) (SchemaReply, error) {
	if len(b) < 10 || b[0] > 1 || b[9] > MaxSchemaName || len(b) < 10+int(b[9]) {
		return SchemaReply{}, errSchema
	}
	name, data := b[10:10+int(b[9])], b[10+int(b[9]):]
	r := SchemaReply{Known: b[0] == 1, Hash: le.Uint64(b[1:]), Name: string(name)}
	switch {
	case len(data) > MaxSchema:
		return SchemaReply{}, errSchema
	case !r.Known && len(data) > 0, r.Known && SchemaHash(data) != r.Hash:
		return SchemaReply{}, errSchema
	}
	if len(data) > 0 {
		r.Data = data
	}
	return r, nil
}
