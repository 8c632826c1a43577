package netcode

import "fmt"

// SchemaLibrary holds the schemas that a server has for peers that ask. Fill it
// first; then any number of goroutines may read it. The zero value is empty.
type SchemaLibrary struct {
	schemas []SchemaReply // few: searched in order
}

// Add puts a schema in, copying data, and returns its hash. Errors, each naming
// the limit: no name or one longer than MaxSchemaName, one that is taken, and data
// longer than MaxSchema.
func (l *SchemaLibrary) Add(name string, data []byte) (hash uint64, err error) {
	switch {
	case name == "" || len(name) > MaxSchemaName:
		return 0, fmt.Errorf("netcode: schema name %q must be 1 to %d bytes", name, MaxSchemaName)
	case len(data) > MaxSchema:
		return 0, fmt.Errorf("netcode: schema %q is %d bytes, must be at most %d", name, len(data), MaxSchema)
	case l.find(SchemaRequest{Name: name}) >= 0:
		return 0, fmt.Errorf("netcode: schema %q is there already", name)
	}
	hash = SchemaHash(data)
	l.schemas = append(l.schemas, SchemaReply{Known: true, Hash: hash, Name: name, Data: append([]byte(nil), data...)})
	return hash, nil
}

func (l *SchemaLibrary) find(r SchemaRequest) int {
	for i, s := range l.schemas {
		if (r.Hash == 0 || r.Hash == s.Hash) && (r.Name == "" || r.Name == s.Name) {
			return i
		}
	}
	return -1
}

// Find is the answer to a request: the first schema that fits it, or one that
// is not Known.
func (l *SchemaLibrary) Find(r SchemaRequest) SchemaReply {
	if i := l.find(r); i >= 0 {
		return l.schemas[i]
	}
	return SchemaReply{Hash: r.Hash, Name: r.Name}
}

// SchemaAnswers answers the requests of one peer from a library: each schema
// once, and at most 64 times that there is none, so that a peer that asks for
// ever is not served for ever. It is not safe for concurrent use.
type SchemaAnswers struct {
	Library *SchemaLibrary
	sent    []bool
	unknown int
}

// Answer takes the payload of a reliable message of KindSchemaRequest and queues
// the reply on a reliable channel of c, with a tick. It does nothing for a schema
// that went out before. Errors: ErrMalformed; those of [Conn.SendOn], among them
// ErrNoChannel for a channel that is not reliable, after which the peer may ask
// again.
func (a *SchemaAnswers) Answer(c *Conn, channel uint8, tick Tick, request []byte) error {
	r, err := ParseSchemaRequest(request)
	if err != nil {
		return err
	}
	if int(channel) < len(c.channels) && !c.channels[channel].reliable {
		return fmt.Errorf("%w: channel %d is not Reliable, and a schema must arrive", ErrNoChannel, channel)
	}
	i := a.Library.find(r)
	for len(a.sent) < len(a.Library.schemas) {
		a.sent = append(a.sent, false)
	}
	if i >= 0 && a.sent[i] || i < 0 && a.unknown >= 64 {
		return nil
	}
	if err := c.SendOn(channel, tick, KindSchemaReply, a.Library.Find(r).Append(nil)); err != nil {
		return err
	}
	if i >= 0 {
		a.sent[i] = true
	} else {
		a.unknown++
	}
	return nil
}
