package foretick_test

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"flag"
	"fmt"
	"os"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/foretick/foretick"
	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/internal/costtest"
	"github.com/foretick/foretick/netcode"
	"github.com/foretick/foretick/schema"
	"github.com/foretick/foretick/server"
	"github.com/foretick/foretick/transport/sim"
)

var update = flag.Bool("update", false, "rewrite golden files")

type hit struct {
	Damage uint8 `net:"max=100"`
	Where  float32
}

// declareAll declares a protocol that has something of all that a schema describes.
func declareAll(spoil func(h *handles, p *foretick.Protocol)) *foretick.Protocol {
	return declare(func(h *handles, p *foretick.Protocol) {
		p.Channel("chat", netcode.Channel{Reliable: true, Priority: 2})
		p.Channel("effects", netcode.Channel{})
		if spoil != nil {
			spoil(h, p)
		}
		h.score.Channel = "chat"
		h.score.OnClient(p, func(*foretick.Frame, foretick.Tick, health) {})
		h.hit.Channel = "effects"
		h.hit.OnClient(p, func(*foretick.Frame, foretick.Tick, hit) {})
		h.wish.Handle(p, func(*foretick.ServerFrame, foretick.PlayerID, hit) {})
		h.shot.OnPredicted(p, func(*foretick.Frame, foretick.By, hit) {})
		p.Shared("blow", nothing, ecs.Once(), ecs.Tags("storm"))
		p.Shared("freeze", nothing, ecs.Once(), ecs.Tags("storm", "winter"))
	})
}

// TestSchemaRoundTrip: a schema that was written and read describes the same protocol, and has the
// same hash.
func TestSchemaRoundTrip(t *testing.T) {
	for _, p := range []*foretick.Protocol{declare(nil), declareAll(nil), foretick.NewProtocol("empty", -3)} {
		require.NoError(t, p.Err())
		b := p.Schema([]byte("x"))[1:]
		s, err := schema.ReadProtocol(b)
		require.NoError(t, err)
		require.Equal(t, p.Describe(), s.Describe())
		require.Equal(t, p.Hash(), s.Hash())
		require.Contains(t, p.Describe(), fmt.Sprintf("schema %016x\n", netcode.SchemaHash(b)), "its hash is part of the protocol's")
		for n := range len(b) {
			_, err := schema.ReadProtocol(b[:n])
			require.ErrorIs(t, err, schema.ErrMalformed, "cut at %d", n)
		}
		for i := range b { // if a byte differs, the hash differs or the schema is an error
			other := append([]byte(nil), b...)
			other[i] ^= 1
			if s, err := schema.ReadProtocol(other); err == nil {
				require.NotEqual(t, p.Hash(), s.Hash(), "byte %d", i)
			}
		}
	}
	s, err := schema.ReadProtocol(declareAll(nil).Schema(nil))
	require.NoError(t, err)
	require.Equal(t, []schema.Channel{{Name: "chat", Reliable: true, Priority: 2}, {Name: "effects", Priority: 1}}, s.Channels)
	require.Equal(t, []string{"hit"}, s.Events)
	require.Equal(t, []string{"move", "blow", "freeze"}, s.Shared)
	require.Equal(t, []string{"storm", "winter"}, s.Tags)
	require.Equal(t, []uint64{0, 1, 3}, s.SharedTags)
	require.Equal(t, 3, s.Messages[1].Channel)
	require.Len(t, s.Requests, 1)
	require.Equal(t, "hit", s.Requests[0].Name())
}

// TestSchemaGolden compares a schema's bytes with schema/testdata, and what a reader written from
// docs/STANDARD.md finds in them with the protocol. The registry has a test of its own.
func TestSchemaGolden(t *testing.T) {
	b := declareAll(nil).Schema(nil)
	var text strings.Builder
	for i := 0; i < len(b); i += 32 {
		text.WriteString(hex.EncodeToString(b[i:min(len(b), i+32)]) + "\n")
	}
	if *update {
		require.NoError(t, os.WriteFile("schema/testdata/schema.txt", []byte(text.String()), 0o600))
	}
	want, err := os.ReadFile("schema/testdata/schema.txt")
	require.NoError(t, err)
	require.Equal(t, string(want), text.String(), "run with -update if the format changed on purpose")
	next := func(n int) (out []byte) { out, b = b[:n], b[n:]; return out }
	varint := func() int { v, n := binary.Uvarint(b); next(n); return int(v) }
	name := func() string { return string(next(varint())) }
	require.Equal(t, []byte{2}, next(1))
	require.Equal(t, "test", name())
	require.Equal(t, []byte{2, 30, 2}, next(3), "version 1, zigzag; 30 Hz; two channels")
	require.Equal(t, "chat", name())
	require.Equal(t, []byte{1, 2}, next(2))
	require.Equal(t, "effects", name())
	require.Equal(t, []byte{0, 1}, next(2))
	registry, err := schema.ReadRegistry(next(varint()))
	require.NoError(t, err)
	require.Equal(t, 2, registry.Components())
	schema := func() string {
		s, rest, err := schema.Read(b)
		require.NoError(t, err)
		b = rest
		return s.Name()
	}
	require.Equal(t, []byte{1 + 4}, next(1), "there is a command, and shared systems have tags")
	require.Equal(t, "pad", schema())
	require.Equal(t, []byte{2, 2}, next(2), "two messages, the first by channel 2")
	require.Equal(t, "health", schema())
	require.Equal(t, []byte{3}, next(1))
	require.Equal(t, "hit", schema())
	require.Equal(t, []byte{1}, next(1), "a request")
	require.Equal(t, "hit", schema())
	require.Equal(t, 1, varint())
	require.Equal(t, "hit", name())
	require.Equal(t, 3, varint())
	require.Equal(t, []string{"move", "blow", "freeze"}, []string{name(), name(), name()})
	require.Equal(t, []byte{2}, next(1), "two tags")
	require.Equal(t, []string{"storm", "winter"}, []string{name(), name()})
	require.Equal(t, []byte{0, 1, 3}, next(3), "the tags of each shared system")
	require.Empty(t, b)
}

// TestHashCoversChannelsAndEvents: both ends must agree on the channels of messages, and on the
// events and their numbers.
func TestHashCoversChannelsAndEvents(t *testing.T) {
	base := declareAll(nil)
	require.NoError(t, base.Err())
	seen := map[uint64]string{base.Hash(): "base"}
	for name, spoil := range map[string]func(h *handles, p *foretick.Protocol){
		"channel": func(_ *handles, p *foretick.Protocol) { p.Channel("more", netcode.Channel{}) },
		"request": func(h *handles, p *foretick.Protocol) {
			h.plea.Handle(p, func(*foretick.ServerFrame, foretick.PlayerID, health) {})
		},
		"event": func(h *handles, p *foretick.Protocol) {
			h.other.OnPredicted(p, func(*foretick.Frame, foretick.By, health) {})
		},
		"system": func(_ *handles, p *foretick.Protocol) { p.Shared("rise", nothing, ecs.Once()) },
		"its tag": func(_ *handles, p *foretick.Protocol) {
			p.Shared("rise", nothing, ecs.Once(), ecs.Tags("storm"))
		},
		"another tag": func(_ *handles, p *foretick.Protocol) {
			p.Shared("rise", nothing, ecs.Once(), ecs.Tags("winter"))
		},
	} {
		p := declareAll(spoil)
		require.NoError(t, p.Err(), name)
		require.Empty(t, seen[p.Hash()], name)
		seen[p.Hash()] = name
	}
	for name, c := range map[string]struct {
		channel string
		netcode.Channel
	}{
		"priority": {"chat", netcode.Channel{Reliable: true, Priority: 3}}, "reliable": {"chat", netcode.Channel{Priority: 2}}, "name": {"talk", netcode.Channel{Reliable: true, Priority: 2}},
	} {
		p := declare(func(h *handles, p *foretick.Protocol) {
			p.Channel(c.channel, c.Channel)
			p.Channel("effects", netcode.Channel{})
			h.score.Channel = c.channel
			h.score.OnClient(p, func(*foretick.Frame, foretick.Tick, health) {})
			h.hit.Channel = "effects"
			h.hit.OnClient(p, func(*foretick.Frame, foretick.Tick, hit) {})
			h.shot.OnPredicted(p, func(*foretick.Frame, foretick.By, hit) {})
		})
		require.NoError(t, p.Err(), name)
		require.Empty(t, seen[p.Hash()], name)
		seen[p.Hash()] = name
	}
	other := declare(func(h *handles, p *foretick.Protocol) {
		p.Channel("chat", netcode.Channel{Reliable: true, Priority: 2})
		p.Channel("effects", netcode.Channel{})
		h.score.OnClient(p, func(*foretick.Frame, foretick.Tick, health) {}) // on the channel that every protocol has
		h.hit.Channel = "effects"
		h.hit.OnClient(p, func(*foretick.Frame, foretick.Tick, hit) {})
		h.shot.OnPredicted(p, func(*foretick.Frame, foretick.By, hit) {})
	})
	require.NoError(t, other.Err())
	require.Empty(t, seen[other.Hash()])
}

func TestRequestFaults(t *testing.T) {
	type guide struct{ Where ecs.Entity }
	for want, spoil := range map[string]func(h *handles, p *foretick.Protocol){
		"declared twice": func(h *handles, p *foretick.Protocol) {
			h.wish.Handle(p, nil)
			h.wish.Handle(p, nil)
		},
		"at most 253": func(_ *handles, p *foretick.Protocol) {
			for range 254 {
				(&foretick.Request[hit]{}).Handle(p, nil)
			}
		},
		"request guide: field Where is an ecs.Entity": func(_ *handles, p *foretick.Protocol) { (&foretick.Request[guide]{}).Handle(p, nil) },
		"pointed.P": func(_ *handles, p *foretick.Protocol) { (&foretick.Request[pointed]{}).Handle(p, nil) },
	} {
		require.ErrorContains(t, declare(spoil).Err(), want)
	}
}

func TestChannelFaults(t *testing.T) {
	for want, spoil := range map[string]func(h *handles, p *foretick.Protocol){
		"needs a name": func(_ *handles, p *foretick.Protocol) { p.Channel("", netcode.Channel{}) },
		"twice": func(_ *handles, p *foretick.Protocol) {
			p.Channel("a", netcode.Channel{})
			p.Channel("a", netcode.Channel{})
		},
		"at most 6": func(_ *handles, p *foretick.Protocol) {
			for i := range 7 {
				p.Channel(string(rune('a'+i)), netcode.Channel{})
			}
		},
		"Repeat is 17": func(_ *handles, p *foretick.Protocol) { p.Channel("a", netcode.Channel{Repeat: 17}) },
		"call Channel first": func(h *handles, p *foretick.Protocol) {
			h.score.Channel = "none"
			h.score.OnClient(p, nil)
		},
		"carries at most 256": func(h *handles, p *foretick.Protocol) {
			p.Channel("effects", netcode.Channel{})
			h.long.Channel = "effects"
			h.long.OnClient(p, nil)
		},
	} {
		require.ErrorContains(t, declare(spoil).Err(), want)
	}
}

// TestSchemaTagsAreBounded: a schema lists 1 to 64 tags, and no system has another one.
func TestSchemaTagsAreBounded(t *testing.T) {
	b := declareAll(nil).Schema(nil)
	at := len(b) - len("\x02\x05storm\x06winter") - 3
	require.Equal(t, "\x02\x05storm\x06winter\x00\x01\x03", string(b[at:]))
	many := "\x41"
	for i := range 65 {
		many += "\x01" + string(rune('!'+i))
	}
	for name, end := range map[string]string{
		"a bit of no tag":        "\x02\x05storm\x06winter\x00\x01\x07",
		"a name not printed":     "\x02\x05st\nrm\x06winter\x00\x01\x03",
		"no tags":                "\x00\x00\x00\x00",
		"more tags than bits":    many + "\x00\x01\x03",
		"a longer number":        "\x02\x05storm\x06winter\x00\x01\x83\x00",
		"a number over 64 bits":  "\x02\x05storm\x06winter\x00\x01\xff\xff\xff\xff\xff\xff\xff\xff\xff\x03",
		"fewer than the systems": "\x02\x05storm\x06winter\x00\x03",
		"more than the systems":  "\x02\x05storm\x06winter\x00\x01\x03\x00",
	} {
		_, err := schema.ReadProtocol(append(b[:at:at], end...))
		require.ErrorIs(t, err, schema.ErrMalformed, name)
	}
}

// TestSchemaMustTravel: if a server admits clients of other builds, a schema that is too long for a
// message, or that no reader accepts, is an error at its start.
func TestSchemaMustTravel(t *testing.T) {
	for name, change := range map[string]func(h *handles, p *foretick.Protocol){
		"long": func(h *handles, p *foretick.Protocol) {
			for i := range 300 {
				p.Prefab(&h.prefabs[i], strings.Repeat("k", 240)+fmt.Sprint(i), &h.place)
			}
		},
	} {
		n := sim.NewNetwork(1)
		_, err := server.New(server.Config{Protocol: declare(change), Transport: n.Listen()})
		require.NoError(t, err, name)
		_, err = server.New(server.Config{Protocol: declare(change), Transport: n.Listen(), AllowOtherBuilds: true})
		require.ErrorContains(t, err, "AllowOtherBuilds", name)
	}
}

// FuzzReadSchema: a schema that is accepted describes itself; all others are errors. Neither costs
// more than the input's size allows.
func FuzzReadSchema(f *testing.F) {
	f.Add(declareAll(nil).Schema(nil))
	f.Add(valuesGame(false).Schema(nil))
	f.Add(declare(nil).Schema(nil))
	f.Add([]byte{1, 1, 'g'})
	f.Fuzz(func(t *testing.T, b []byte) {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		s, err := schema.ReadProtocol(b)
		runtime.ReadMemStats(&after)
		require.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(4<<20+100*len(b)), "elements of slices, and all else")
		if err != nil {
			require.ErrorIs(t, err, schema.ErrMalformed)
			return
		}
		require.NotEmpty(t, s.Describe())
		again, err := schema.ReadProtocol(b)
		require.NoError(t, err)
		require.Equal(t, s.Hash(), again.Hash())
	})
}

// longList is a message of many fields.
type longList struct {
	Numbers []int16 `net:"max=1000"`
}

// TestReadSchemaAllocation: a few bytes that claim thousands of elements allocate no more than a
// protocol's most elements need.
func TestReadSchemaAllocation(t *testing.T) {
	costtest.Allocations(t)
	p := foretick.NewProtocol("g", 1)
	var first foretick.Message[longList]
	first.OnClient(p, func(*foretick.Frame, foretick.Tick, longList) {})
	require.NoError(t, p.Err())
	b := p.Schema(nil)
	one, _, err := schema.Read(p.Schema(nil)[bytes.Index(b, []byte("longList"))-1:])
	require.NoError(t, err)
	message := append([]byte{0}, one.AppendSchema(nil)...)
	at := bytes.Index(b, message)
	require.Positive(t, at)
	b = append(b[:at-1:at-1], 253)
	for range 253 {
		b = append(b, message...)
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	_, err = schema.ReadProtocol(append(b, 0, 0))
	runtime.ReadMemStats(&after)
	require.ErrorContains(t, err, "messages' fields")
	t.Logf("%d bytes in, %d KiB allocated", len(b), (after.TotalAlloc-before.TotalAlloc)>>10)
	require.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(4<<20)) // the race detector takes up to twice as much

	p = foretick.NewProtocol("g", 1)
	many := make([]foretick.Message[longList], 33)
	for i := range many {
		many[i].OnClient(p, func(*foretick.Frame, foretick.Tick, longList) {})
	}
	require.ErrorContains(t, p.Err(), "use shorter slices")
}
