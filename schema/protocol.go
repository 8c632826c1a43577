package schema

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/fnv"
	"maps"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/foretick/foretick/internal/standard"
)

// Protocol is everything that both ends of a game agree on, without the game's Go types.
// The method Schema of the root package's Protocol writes it, and [ReadProtocol] reads it.
// Tools use it to read recorded or received snapshots. A client of another build matches
// its own protocol with it.
type Protocol struct {
	// Game is the name of the game, Version its version.
	Game    string
	Version int
	// TickRate is the number of ticks a second, 10 to 128.
	TickRate int
	// Channels are the channels that the game declared, in order. The first is channel 2.
	Channels []Channel
	// Registry has the components and prefabs, and reads snapshots with package snapshot.
	Registry *Registry
	// Command is the schema of commands; nil when there are none.
	Command *Schema
	// Messages are those of the game, by kind.
	Messages []Message
	// Requests are what players send, by kind.
	Requests []*Schema
	// Events are the names of the events' types, in order.
	Events []string
	// Shared are the names of the systems that both ends run, in their order.
	Shared []string
	// Tags are the game's tags that shared systems have, by their bit in a Welcome of the
	// netcode. SharedTags has the bits of each shared system: it runs in matches that have
	// all of its tags. It is nil where none has tags.
	Tags       []string
	SharedTags []uint64
	// PredictsRemote is set if clients predict other players too. RemotePredicted then
	// names the prefabs that they predict.
	PredictsRemote  bool
	RemotePredicted []string
	// Values has the names of the values of fields that are sent, without names and units: both
	// ends must number them alike. It is nil where no field has them.
	Values Labels

	// hash is the hash of the bytes that the protocol was read from. 0 means that it was not read.
	hash uint64
}

// Channel is a channel that the game declared.
type Channel struct {
	Name     string
	Reliable bool
	Priority uint8
}

// Message is a message of the game.
type Message struct {
	// Channel is the number of the channel that carries it.
	Channel int
	// Schema reads its payload, with [Schema.UnpackValues].
	Schema *Schema
}

// Describe lists everything that the protocol's hash covers: one fact a line, in
// order.
func (s *Protocol) Describe() string {
	var b strings.Builder
	fmt.Fprintf(&b, "game %s\nversion %d\ntick rate %d Hz\n", s.Game, s.Version, s.TickRate)
	for i, c := range s.Channels {
		fmt.Fprintf(&b, "channel %d %s reliable=%t priority=%d\n", standard.GameChannels+i, c.Name, c.Reliable, c.Priority)
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
	for i, name := range s.Shared {
		b.WriteString("shared system " + name)
		if i < len(s.SharedTags) && s.SharedTags[i] != 0 {
			fmt.Fprintf(&b, " tags=%x", s.SharedTags[i])
		}
		b.WriteByte('\n')
	}
	for i, name := range s.Tags {
		fmt.Fprintf(&b, "tag %d %s\n", i, name)
	}
	if s.PredictsRemote {
		fmt.Fprintf(&b, "predicts remote %s\n", strings.Join(s.RemotePredicted, " "))
	}
	for _, path := range slices.Sorted(maps.Keys(s.Values)) {
		fmt.Fprintf(&b, "values %s %s\n", path, strings.Join(s.Values[path].Values, ","))
	}
	fmt.Fprintf(&b, "schema %016x\n", s.bytesHash())
	return b.String()
}

// Hash returns the hash of the protocol: two ends can play together when their
// hashes are equal.
func (s *Protocol) Hash() uint64 { return hashOf([]byte(s.Describe())) }

// bytesHash returns the hash of the protocol's bytes.
func (s *Protocol) bytesHash() uint64 {
	if s.hash != 0 {
		return s.hash
	}
	return hashOf(s.Append(nil))
}

// hashOf is 64-bit FNV-1a.
func hashOf(b []byte) uint64 {
	h := fnv.New64a()
	_, _ = h.Write(b) // never fails
	return h.Sum64()
}

const protocolVersion = 2

// Append appends the protocol as bytes, in the form of docs/STANDARD.md.
func (s *Protocol) Append(dst []byte) []byte {
	text := func(t string) { dst = append(binary.AppendUvarint(dst, uint64(len(t))), t...) }
	count := func(n int) { dst = binary.AppendUvarint(dst, uint64(n)) }
	dst = append(dst, protocolVersion)
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
	dst = append(dst, flag(s.Command != nil)+flag(s.PredictsRemote)+hasTags*flag(len(s.Tags) > 0)+hasValues*flag(len(s.Values) > 0))
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
	if len(s.Tags) > 0 {
		lists = append(lists, s.Tags)
	}
	for _, names := range lists {
		count(len(names))
		for _, name := range names {
			text(name)
		}
	}
	for _, bits := range s.SharedTags {
		dst = binary.AppendUvarint(dst, bits)
	}
	if len(s.Values) > 0 {
		dst = s.Values.Append(dst)
	}
	return dst
}

// Bits of the byte before the command.
const (
	hasTags   = 4 // shared systems have tags
	hasValues = 8 // values of fields have names
)

func flag(on bool) byte {
	if on {
		return 1
	}
	return 0
}

// ReadProtocol reads the output of [Protocol.Schema]. It checks every length and number in b
// before using it. The error wraps [ErrMalformed] and has the cause.
func ReadProtocol(b []byte) (*Protocol, error) {
	r := protocolReader{b: b}
	s := &Protocol{hash: hashOf(b)}
	if v := r.byte(protocolVersion); v != protocolVersion {
		r.failWith(fmt.Errorf("version %d: this is version %d", v, protocolVersion))
	}
	s.Game, s.Version = r.readText(), r.int()
	s.TickRate = int(r.byte(standard.MaxTickRate))
	if s.Game == "" || s.TickRate < standard.MinTickRate {
		r.failWith(errors.New("game or tick rate"))
	}
	for range r.byte(standard.MaxGameChannels) {
		c := Channel{Name: r.readText(), Reliable: r.byte(1) == 1, Priority: r.byte(255)}
		if c.Name == "" || c.Priority == 0 {
			r.failWith(errors.New("channel"))
		}
		s.Channels = append(s.Channels, c)
	}
	n := r.readCount(len(r.b))
	if registry := r.takeBytes(n); r.err == nil {
		var err error
		s.Registry, err = ReadRegistry(registry)
		r.failWith(err)
	}
	has := r.byte(2 + hasTags + hasValues)
	command := has &^ (hasTags + hasValues)
	if command > 2 {
		r.failWith(errors.New("number"))
	}
	if s.PredictsRemote = command == 2; command > 0 {
		if s.Command = r.schema(); s.Command != nil && s.Command.Varies() >= 0 {
			r.failWith(errors.New("a command of no one size"))
		}
	}
	fields := 0
	counted := func(x *Schema) *Schema {
		if x != nil {
			if fields += x.NumFields(); fields > standard.MaxMessageFields {
				r.failWith(errors.New("messages' fields"))
			}
		}
		return x
	}
	for range r.byte(standard.MaxMessages) {
		m := Message{Channel: int(r.byte(byte(standard.GameChannels + len(s.Channels) - 1))), Schema: counted(r.schema())}
		if m.Channel == standard.ChannelSchemas {
			r.failWith(errors.New("a message's channel"))
		}
		s.Messages = append(s.Messages, m)
	}
	for range r.byte(standard.MaxMessages) {
		s.Requests = append(s.Requests, counted(r.schema()))
	}
	s.Events, s.Shared = r.names(), r.names()
	if s.PredictsRemote {
		s.RemotePredicted = r.names()
	}
	if has&hasTags != 0 {
		s.readTags(&r)
	}
	if has&hasValues != 0 {
		s.readValues(&r)
	}
	if r.err == nil && len(r.b) > 0 {
		r.failWith(errors.New("length"))
	}
	if r.err != nil {
		return nil, fmt.Errorf("%w: %w", ErrMalformed, r.err)
	}
	return s, nil
}

// readTags reads the names of the tags, and the bits of each shared system.
func (s *Protocol) readTags(r *protocolReader) {
	s.Tags = r.names()
	if len(s.Tags) == 0 || len(s.Tags) > standard.MaxTags {
		r.failWith(errors.New("tags"))
		return
	}
	for range s.Shared {
		s.SharedTags = append(s.SharedTags, r.number(^uint64(0)>>(standard.MaxTags-len(s.Tags))))
	}
}

// readValues reads the names of values, which end the bytes.
func (s *Protocol) readValues(r *protocolReader) {
	l, err := ReadLabels(r.b)
	for _, of := range l {
		if of.Name != "" || of.Unit != "" {
			err = errors.New("values")
		}
	}
	if len(l) == 0 && err == nil {
		err = errors.New("no values")
	}
	r.failWith(err)
	s.Values, r.b = l, nil
}

// protocolReader reads a schema's bytes. After a fault it reads zeros.
type protocolReader struct {
	b   []byte
	err error
}

func (r *protocolReader) failWith(err error) {
	if r.err == nil && err != nil {
		r.err, r.b = err, nil
	}
}

func (r *protocolReader) takeBytes(n int) []byte {
	if n > len(r.b) {
		r.failWith(errors.New("length"))
		return nil
	}
	b := r.b[:n]
	r.b = r.b[n:]
	return b
}

func (r *protocolReader) byte(most byte) byte {
	b := r.takeBytes(1)
	if b == nil || b[0] > most {
		r.failWith(errors.New("number"))
		return 0
	}
	return b[0]
}

func (r *protocolReader) readCount(most int) int { return int(r.number(uint64(most))) }

func (r *protocolReader) number(most uint64) uint64 {
	v, n := binary.Uvarint(r.b)
	if n <= 0 || v > most || n > 1 && r.b[n-1] == 0 {
		r.failWith(errors.New("number"))
		return 0
	}
	r.b = r.b[n:]
	return v
}

func (r *protocolReader) int() int {
	v, n := binary.Varint(r.b)
	if n <= 0 || n > 1 && r.b[n-1] == 0 {
		r.failWith(errors.New("number"))
		return 0
	}
	r.b = r.b[n:]
	return int(v)
}

func (r *protocolReader) readText() string {
	s := string(r.takeBytes(r.readCount(standard.MaxText)))
	if !utf8.ValidString(s) || strings.ContainsFunc(s, func(c rune) bool { return !unicode.IsPrint(c) }) {
		r.failWith(errors.New("text"))
	}
	return s
}

func (r *protocolReader) names() (out []string) {
	for range r.readCount(standard.MaxNames) {
		name := r.readText()
		if r.err != nil {
			return nil
		}
		out = append(out, name)
	}
	return out
}

func (r *protocolReader) schema() *Schema {
	if r.err != nil {
		return nil
	}
	s, rest, err := Read(r.b)
	r.b = rest
	r.failWith(err)
	return s
}
