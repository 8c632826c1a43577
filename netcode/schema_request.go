package netcode

// MaxSchemaName bounds the name of a schema, in bytes.
const MaxSchemaName = 64

// Kinds of reliable messages by which schemas travel. They are the caller's to
// keep free of other uses on the channel that it answers on.
const (
	KindSchemaReply   uint8 = 253
	KindSchemaRequest uint8 = 254
)

// SchemaRequest asks a peer for a schema, by hash, by name, or by both, of which
// both must then fit. It travels as a reliable message of KindSchemaRequest.
type SchemaRequest struct {
	Hash uint64 // SchemaHash of its bytes; 0: of whatever hash
	Name string // at most MaxSchemaName bytes; empty: of whatever name
}

// Append writes r behind dst. A name beyond MaxSchemaName is cut.
func (r SchemaRequest) Append(dst []byte) []byte {
	dst = le.AppendUint64(dst, r.Hash)
	return append(dst, r.Name[:min(len(r.Name), MaxSchemaName)]...)
}

// ParseSchemaRequest reads what Append wrote. Error: ErrMalformed, also for a
// request of nothing.
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
