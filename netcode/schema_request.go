package netcode

// MaxSchemaName is the longest name of a schema, in bytes.
const MaxSchemaName = 64

// ProtocolSchema is the name of the schema that describes a whole game: see
// docs/STANDARD.md.
const ProtocolSchema = "protocol"

// LabelSchema is the name of the labels of a game's fields, which only tools ask for: see
// package schema.
const LabelSchema = "labels"

// Kinds of the reliable messages that carry schemas. The caller must not use
// them for anything else on that channel.
const (
	KindSchemaReply   uint8 = 253
	KindSchemaRequest uint8 = 254
)

// SchemaRequest asks a peer for a schema by hash, by name, or by both; then
// both must match. It is sent as a reliable message of KindSchemaRequest.
type SchemaRequest struct {
	Hash uint64 // SchemaHash of the schema; 0: any
	Name string // name of the schema, at most MaxSchemaName bytes; empty: any
}

// Append appends the encoded r to dst. It cuts Name to MaxSchemaName.
func (r SchemaRequest) Append(dst []byte) []byte {
	dst = le.AppendUint64(dst, r.Hash)
	return append(dst, r.Name[:min(len(r.Name), MaxSchemaName)]...)
}

// ParseSchemaRequest decodes what Append wrote. Error: ErrMalformed, also when
// both Hash and Name are empty.
func ParseSchemaRequest(b []byte) (SchemaRequest, error) {
	if len(b) < 8 || len(b) > 8+MaxSchemaName {
		return SchemaRequest{}, errAsk
	}
	r := SchemaRequest{Hash: le.Uint64(b), Name: string(b[8:])}
	if r.Hash == 0 && r.Name == "" {
		return SchemaRequest{}, errAsk
	}
	return r, nil
}
