package netcode

import "fmt"

// SchemaLibrary holds the schemas that a server offers to peers. Fill it first;
// after that, any number of goroutines may read it. The zero value is empty.
type SchemaLibrary struct {
	schemas []SchemaReply // schemas are few, so they are searched in order.
}

// Add stores a copy of data under name and returns its hash. It fails for an
// empty name, a name longer than MaxSchemaName, a name already in use, and data
// longer than MaxSchema. Each error names the limit.
func (l *SchemaLibrary) Add(name string, data []byte) (hash uint64, err error) {
	switch {
	case name == "" || len(name) > MaxSchemaName:
		return 0, fmt.Errorf("netcode: schema name %q must be 1 to %d bytes", name, MaxSchemaName)
	case len(data) > MaxSchema:
		return 0, fmt.Errorf("netcode: schema %q is %d bytes, must be at most %d", name, len(data), MaxSchema)
	case l.findSchema(SchemaRequest{Name: name}) >= 0:
		return 0, fmt.Errorf("netcode: schema %q already exists", name)
	}
	hash = SchemaHash(data)
	l.schemas = append(l.schemas, SchemaReply{Known: true, Hash: hash, Name: name, Data: append([]byte(nil), data...)})
	return hash, nil
}

func (l *SchemaLibrary) findSchema(r SchemaRequest) int {
	for i, s := range l.schemas {
		if (r.Hash == 0 || r.Hash == s.Hash) && (r.Name == "" || r.Name == s.Name) {
			return i
		}
	}
	return -1
}

// Find returns the reply to a request: the first schema that matches, or a
// reply with Known false.
func (l *SchemaLibrary) Find(r SchemaRequest) SchemaReply {
	if i := l.findSchema(r); i >= 0 {
		return l.schemas[i]
	}
	return SchemaReply{Hash: r.Hash, Name: r.Name}
}

// SchemaAnswers replies to the schema requests of one peer from a library. It
// sends each schema once, and "unknown" at most 64 times, so that a peer that
// keeps asking is not served endlessly. It is not safe for concurrent use.
type SchemaAnswers struct {
	Library *SchemaLibrary
	sent    []bool
	unknown int
}

// Answer takes the payload of a reliable message of KindSchemaRequest and
// queues the reply, with tick, on a reliable channel of c. It does nothing for
// a schema that it already sent. Errors: ErrMalformed, and those of
// [Conn.SendOn]; ErrNoChannel also for a channel that is not reliable. After an
// error of SendOn the peer may ask again.
func (a *SchemaAnswers) Answer(c *Conn, channel uint8, tick Tick, request []byte) error {
	r, err := ParseSchemaRequest(request)
	if err != nil {
		return err
	}
	if int(channel) < len(c.channels) && !c.channels[channel].reliable {
		return fmt.Errorf("%w: channel %d is not Reliable, use a reliable one for schemas", ErrNoChannel, channel)
	}
	i := a.Library.findSchema(r)
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
