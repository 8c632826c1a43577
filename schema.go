package foretick

import (
	"encoding/binary"
	"errors"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/foretick/foretick/netcode"
	"github.com/foretick/foretick/snapshot"
)

// SchemaName is the name under which a server answers requests for its schema;
// see [netcode.SchemaRequest].
const SchemaName = "protocol"

// ErrSchema is the cause of every refusal of bytes that are no schema.
var ErrSchema = errors.New("foretick: malformed schema")

// Schema is a protocol without its Go types, as [Protocol.Schema] writes it: what
// a tool needs to read recorded or received snapshots, and a client of another
// build to match its own protocol with. Read one with [ReadSchema].
type Schema struct {
	// Game, Version and TickRate are those of the Protocol.
	Game     string
	Version  int
	TickRate int
	// Channels are the game's own, in order; the first is channel 2.
	Channels []SchemaChannel
	// Registry has the components and prefabs, and reads snapshots: see
	// [snapshot.NewReceiver].
	Registry *snapshot.Registry
	// Command is the schema of commands; nil when there are none.
	Command *snapshot.Schema
	// Messages are those of the game, by kind.
	Messages []SchemaMessage
	// Requests are what players send, by kind.
	Requests []*snapshot.Schema
	// Events are the names of the events' types, in order.
	Events []string
	// Shared are the names of the systems that both ends run, in their order.
	Shared []string
	// PredictsRemote tells that clients predict other players, too, and RemotePredicted names the
	// prefabs of which they do; see [PredictRemote].
	PredictsRemote  bool
	RemotePredicted []string

	hash uint64 // of the bytes
}

// SchemaChannel is a channel of a game's own.
type SchemaChannel struct {
	Name     string
	Reliable bool
	Priority uint8
}

// SchemaMessage is a message of a game's.
type SchemaMessage struct {
	// Channel by which it travels.
	Channel int
	// Schema reads its payload, with [snapshot.Schema.UnpackValues].
	Schema *snapshot.Schema
}

// Schema appends the protocol as bytes, in the form of docs/STANDARD.md. It ends the
// declaration, as Err does.
func (p *Protocol) Schema(dst []byte) []byte {
	_ = p.Err()
	return p.parts().append(dst)
}

// parts are what the schema says.
func (p *Protocol) parts() *Schema {
	s := &Schema{Game: p.name, Version: p.version, TickRate: p.tickRate, Registry: p.registry}
	for i, c := range p.netChannels()[gameChannels:] {
		s.Channels = append(s.Channels, SchemaChannel{p.channels[i].name, c.Reliable, max(c.Priority, 1)})
	}
	if p.command != nil {
		s.Command = p.command.schema
	}
	for i := range p.messages {
		s.Messages = append(s.Messages, SchemaMessage{p.messages[i].channel, p.messages[i].schema})
	}
	for i := range p.requests {
		s.Requests = append(s.Requests, p.requests[i].schema)
	}
	for i := range p.events {
		s.Events = append(s.Events, p.events[i].name)
	}
	for _, sys := range p.schedule.Systems() {
		if shared(sys) {
			s.Shared = append(s.Shared, sys.Name)
		}
	}
	s.PredictsRemote = p.predictRemote != nil
	for i := range p.prefabs {
		if p.prefabs[i].remotePredicted {
			s.RemotePredicted = append(s.RemotePredicted, p.prefabs[i].ecs.Name())
		}
	}
	s.hash = netcode.SchemaHash(s.append(nil))
	return s
}

// Describe lists what the protocol's hash covers: see [Protocol.Describe].
func (s *Schema) Describe() string {
	var b strings.Builder
	fmt.Fprintf(&b, "game %s\nversion %d\ntick rate %d Hz\n", s.Game, s.Version, s.TickRate)
	for i, c := range s.Channels {
		fmt.Fprintf(&b, "channel %d %s reliable=%t priority=%d\n", gameChannels+i, c.Name, c.Reliable, c.Priority)
	}
	b.WriteString(s.Registry.Describe())
	if s.Command != nil {
		fmt.Fprintf(&b, "command\n%s\n", strings.TrimRight(s.Command.Describe(), "\n"))
	}
	for i, m := range s.Messages {
		fmt.Fprintf(&b, "message %d channel=%d\n%s\n", i, m.Channel, strings.TrimRight(m.Schema.Describe(), "\n"))
	}
	for i, r := range s.Requests {
		fmt.Fprintf(&b, "request %d\n%s\n", i, strings.TrimRight(r.Describe(), "\n"))
	}
	for i, name := range s.Events {
		fmt.Fprintf(&b, "event %d %s\n", i, name)
	}
	for _, name := range s.Shared {
		fmt.Fprintf(&b, "shared system %s\n", name)
	}
	if s.PredictsRemote {
		fmt.Fprintf(&b, "predicts remote %s\n", strings.Join(s.RemotePredicted, " "))
	}
	fmt.Fprintf(&b, "schema %016x\n", s.hash)
	return b.String()
}

// Hash is the hash of the protocol, as [Protocol.Hash] gives it.
func (s *Schema) Hash() uint64 { return hashText(s.Describe()) }

const schemaVersion = 2

func (s *Schema) append(dst []byte) []byte {
	text := func(t string) { dst = append(binary.AppendUvarint(dst, uint64(len(t))), t...) }
	count := func(n int) { dst = binary.AppendUvarint(dst, uint64(n)) }
	dst = append(dst, schemaVersion)
	text(s.Game)
	dst = binary.AppendVarint(dst, int64(s.Version))
	dst = append(dst, byte(s.TickRate), byte(len(s.Channels)))
	for _, c := range s.Channels {
		text(c.Name)
		dst = append(dst, flag(c.Reliable), c.Priority)
	}
	registry := s.Registry.AppendSchema(nil)
	count(len(registry))
	dst = append(dst, registry...)
	dst = append(dst, flag(s.Command != nil)+flag(s.PredictsRemote))
	if s.Command != nil {
		dst = s.Command.AppendSchema(dst)
	}
	dst = append(dst, byte(len(s.Messages)))
	for _, m := range s.Messages {
		dst = m.Schema.AppendSchema(append(dst, byte(m.Channel)))
	}
	dst = append(dst, byte(len(s.Requests)))
	for _, q := range s.Requests {
		dst = q.AppendSchema(dst)
	}
	lists := [][]string{s.Events, s.Shared, s.RemotePredicted}
	if !s.PredictsRemote {
		lists = lists[:2]
	}
	for _, names := range lists {
		count(len(names))
		for _, name := range names {
			text(name)
		}
	}
	return dst
}

func flag(on bool) byte {
	if on {
		return 1
	}
	return 0
}

// ReadSchema reads what [Protocol.Schema] wrote. What b claims is checked before it
// is used; the error is [ErrSchema], with the cause.
func ReadSchema(b []byte) (*Schema, error) {
	r := schemaReader{b: b}
	s := &Schema{hash: netcode.SchemaHash(b)}
	if v := r.byte(schemaVersion); v != schemaVersion {
		r.fail(fmt.Errorf("version %d: this is version %d", v, schemaVersion))
	}
	s.Game, s.Version = r.text(), r.int()
	s.TickRate = int(r.byte(MaxTickRate))
	if s.Game == "" || s.TickRate < MinTickRate {
		r.fail(errors.New("game or tick rate"))
	}
	for range r.byte(MaxChannels) {
		c := SchemaChannel{Name: r.text(), Reliable: r.byte(1) == 1, Priority: r.byte(255)}
		if c.Name == "" || c.Priority == 0 {
			r.fail(errors.New("channel"))
		}
		s.Channels = append(s.Channels, c)
	}
	n := r.count(netcode.MaxSchema)
	if registry := r.take(n); r.err == nil {
		var err error
		s.Registry, err = snapshot.ReadRegistry(registry)
		r.fail(err)
	}
	has := r.byte(2)
	if s.PredictsRemote = has == 2; has > 0 {
		if s.Command = r.schema(); s.Command != nil && s.Command.Varies() >= 0 {
			r.fail(errors.New("a command of no one size"))
		}
	}
	fields := 0
	counted := func(x *snapshot.Schema) *snapshot.Schema {
		if x != nil {
			if fields += x.NumFields(); fields > maxMessageFields {
				r.fail(errors.New("messages' fields"))
			}
		}
		return x
	}
	for range r.byte(maxMessages) {
		m := SchemaMessage{Channel: int(r.byte(byte(gameChannels + len(s.Channels) - 1))), Schema: counted(r.schema())}
		if m.Channel == channelSchemas {
			r.fail(errors.New("a message's channel"))
		}
		s.Messages = append(s.Messages, m)
	}
	for range r.byte(maxMessages) {
		s.Requests = append(s.Requests, counted(r.schema()))
	}
	s.Events, s.Shared = r.names(), r.names()
	if s.PredictsRemote {
		s.RemotePredicted = r.names()
	}
	if r.err == nil && len(r.b) > 0 {
		r.fail(errors.New("length"))
	}
	if r.err != nil {
		return nil, fmt.Errorf("%w: %w", ErrSchema, r.err)
	}
	return s, nil
}

// schemaReader reads a schema's bytes; a fault makes all that follows zero.
type schemaReader struct {
	b   []byte
	err error
}

func (r *schemaReader) fail(err error) {
	if r.err == nil && err != nil {
		r.err, r.b = err, nil
	}
}

func (r *schemaReader) take(n int) []byte {
	if n > len(r.b) {
		r.fail(errors.New("length"))
		return nil
	}
	b := r.b[:n]
	r.b = r.b[n:]
	return b
}

func (r *schemaReader) byte(most byte) byte {
	b := r.take(1)
	if b == nil || b[0] > most {
		r.fail(errors.New("number"))
		return 0
	}
	return b[0]
}

func (r *schemaReader) count(most int) int {
	v, n := binary.Uvarint(r.b)
	if n <= 0 || v > uint64(most) || n > 1 && r.b[n-1] == 0 {
		r.fail(errors.New("number"))
		return 0
	}
	r.b = r.b[n:]
	return int(v)
}

func (r *schemaReader) int() int {
	v, n := binary.Varint(r.b)
	if n <= 0 || n > 1 && r.b[n-1] == 0 {
		r.fail(errors.New("number"))
		return 0
	}
	r.b = r.b[n:]
	return int(v)
}

func (r *schemaReader) text() string {
	s := string(r.take(r.count(maxSchemaText)))
	if !utf8.ValidString(s) || strings.ContainsFunc(s, func(c rune) bool { return !unicode.IsPrint(c) }) {
		r.fail(errors.New("text"))
	}
	return s
}

func (r *schemaReader) names() (out []string) {
	for range r.count(maxSchemaNames) {
		name := r.text()
		if r.err != nil {
			return nil
		}
		out = append(out, name)
	}
	return out
}

func (r *schemaReader) schema() *snapshot.Schema {
	if r.err != nil {
		return nil
	}
	s, rest, err := snapshot.ReadSchema(r.b)
	r.b = rest
	r.fail(err)
	return s
}

const (
	maxSchemaText  = 255
	maxSchemaNames = 4096
	maxMessages    = 253
	// maxMessageFields bounds the fields of all messages and requests, every element
	// of a slice counted: few bytes claim many.
	maxMessageFields = 1 << 15
)
