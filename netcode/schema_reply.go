package netcode

import "hash/fnv"

// MaxSchema is the longest schema, in bytes. Together with the fields in front
// it fits in one reliable message.
const MaxSchema = MaxReliable - 1 - 8 - 1 - MaxSchemaName

// SchemaReply is the reply to a SchemaRequest. It is sent once, as a reliable
// message of KindSchemaReply, split into fragments.
type SchemaReply struct {
	Known bool   // whether the schema is known; false: Hash and Name repeat the request and Data is empty
	Hash  uint64 // SchemaHash of Data
	Name  string // name of the schema, at most MaxSchemaName bytes
	Data  []byte // the schema, at most MaxSchema bytes; aliases the message when parsed
}

// SchemaHash returns the hash that identifies a schema: 64-bit FNV-1a, as for a
// protocol.
func SchemaHash(data []byte) uint64 {
	h := fnv.New64a()
	_, _ = h.Write(data) // never fails
	return h.Sum64()
}

// Append appends the encoded r to dst. It cuts a Name or Data that is too long.
// The receiver refuses cut data, since the hash does not match: see
// [SchemaLibrary.Add].
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

// ParseSchemaReply decodes what Append wrote. Error: ErrMalformed, also when
// the hash does not match the data.
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
