package netcode_test

import (
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/foretick/foretick/netcode"
)

func TestSchemaRequest(t *testing.T) {
	for _, r := range []netcode.SchemaRequest{{Hash: 1}, {Name: "a"}, {Hash: 1<<64 - 1, Name: strings.Repeat("n", 64)}} {
		got, err := netcode.ParseSchemaRequest(r.Append(nil))
		require.NoError(t, err)
		require.Equal(t, r, got)
	}
	for name, b := range map[string][]byte{
		"nothing": {}, "short": make([]byte, 7), "asks for nothing": make([]byte, 8), "long": make([]byte, 8+65),
	} {
		_, err := netcode.ParseSchemaRequest(b)
		require.ErrorIs(t, err, netcode.ErrMalformed, name)
	}
	cut, err := netcode.ParseSchemaRequest(netcode.SchemaRequest{Name: strings.Repeat("n", 65)}.Append(nil))
	require.NoError(t, err)
	require.Len(t, cut.Name, 64)
}

func TestSchemaReply(t *testing.T) {
	big := make([]byte, netcode.MaxSchema)
	for _, r := range []netcode.SchemaReply{
		{}, {Hash: 9, Name: "none"},
		{Known: true, Hash: netcode.SchemaHash(nil), Name: "empty"},
		{Known: true, Hash: netcode.SchemaHash(big), Name: strings.Repeat("n", 64), Data: big},
	} {
		b := r.Append(nil)
		require.LessOrEqual(t, len(b), netcode.MaxReliable)
		got, err := netcode.ParseSchemaReply(b)
		require.NoError(t, err)
		require.Equal(t, r, got)
	}
	good := netcode.SchemaReply{Known: true, Hash: netcode.SchemaHash([]byte("abc")), Name: "n", Data: []byte("abc")}.Append(nil)
	for name, change := range map[string]func(b []byte) []byte{
		"cut":                   func(b []byte) []byte { return b[:9] },
		"cut in the name":       func(b []byte) []byte { return b[:10] },
		"cut in the data":       func(b []byte) []byte { return b[:12] },
		"another byte":          func(b []byte) []byte { b[12]++; return b },
		"another hash":          func(b []byte) []byte { b[1]++; return b },
		"neither known nor not": func(b []byte) []byte { b[0] = 2; return b },
		"data of the unknown":   func(b []byte) []byte { b[0] = 0; return b },
		"long name":             func(b []byte) []byte { b[9] = 65; return append(b, make([]byte, 100)...) },
	} {
		_, err := netcode.ParseSchemaReply(change(append([]byte(nil), good...)))
		require.ErrorIs(t, err, netcode.ErrMalformed, name)
	}
	long := make([]byte, netcode.MaxSchema+1)
	b := append(netcode.SchemaReply{Known: true, Hash: netcode.SchemaHash(long)}.Append(nil), long[:1]...)
	_, err := netcode.ParseSchemaReply(b)
	require.ErrorIs(t, err, netcode.ErrMalformed, "beyond the bound")
}

func TestSchemaLibrary(t *testing.T) {
	var l netcode.SchemaLibrary
	data := []byte("game arena\n")
	hash, err := l.Add("arena", data)
	require.NoError(t, err)
	require.EqualValues(t, netcode.SchemaHash(data), hash)
	data[0] = 'x' // the library has its own
	for name, add := range map[string]func() (uint64, error){
		"no name":   func() (uint64, error) { return l.Add("", nil) },
		"long name": func() (uint64, error) { return l.Add(strings.Repeat("n", 65), nil) },
		"twice":     func() (uint64, error) { return l.Add("arena", nil) },
		"too long":  func() (uint64, error) { return l.Add("long", make([]byte, netcode.MaxSchema+1)) },
	} {
		_, err := add()
		require.ErrorContains(t, err, "netcode: schema", name)
	}
	for _, c := range []struct {
		request netcode.SchemaRequest
		known   bool
	}{
		{netcode.SchemaRequest{Hash: hash}, true}, {netcode.SchemaRequest{Name: "arena"}, true},
		{netcode.SchemaRequest{Hash: hash, Name: "arena"}, true}, {netcode.SchemaRequest{Hash: hash, Name: "other"}, false},
		{netcode.SchemaRequest{Hash: hash + 1, Name: "arena"}, false}, {netcode.SchemaRequest{Name: "Arena"}, false},
	} {
		r := l.Find(c.request)
		require.Equal(t, c.known, r.Known, "%+v", c.request)
		if c.known {
			require.Equal(t, "game arena\n", string(r.Data))
		} else {
			require.Equal(t, netcode.SchemaReply{Hash: c.request.Hash, Name: c.request.Name}, r)
		}
	}
}

// A tool without schemas asks repeatedly over a bad path: it gets the schema
// once, whole, and the stream is not held up.
func TestSchemaTravelsOnceToWhoeverAsks(t *testing.T) {
	schema := make([]byte, netcode.MaxSchema)
	rng := rand.New(rand.NewPCG(4, 4))
	for i := range schema {
		schema[i] = byte(rng.Uint32())
	}
	var library netcode.SchemaLibrary
	hash, err := library.Add("arena", schema)
	require.NoError(t, err)
	cfg := netcode.Config{Channels: []netcode.Channel{{Reliable: true, Priority: 8}, {Reliable: true}, {}}}
	server, tool := netcode.NewConn(cfg), netcode.NewConn(cfg)
	answers := netcode.SchemaAnswers{Library: &library}
	require.ErrorIs(t, answers.Answer(server, 2, 1, netcode.SchemaRequest{Hash: hash}.Append(nil)), netcode.ErrNoChannel)
	require.ErrorIs(t, answers.Answer(server, 9, 1, netcode.SchemaRequest{Hash: hash}.Append(nil)), netcode.ErrNoChannel)
	require.ErrorIs(t, answers.Answer(server, 1, 1, nil), netcode.ErrMalformed)
	var got []netcode.SchemaReply
	chat := 0
	now := time.Duration(0)
	for i := 0; len(got) < 2 || server.Pending() > 0; i++ {
		require.Less(t, i, 3000)
		now += tick
		if i%3 == 0 && i < 60 {
			require.NoError(t, tool.SendOn(1, 1, netcode.KindSchemaRequest, netcode.SchemaRequest{Name: "arena"}.Append(nil)))
			require.NoError(t, tool.SendOn(1, 1, netcode.KindSchemaRequest, netcode.SchemaRequest{Hash: hash}.Append(nil)))
		}
		if i == 60 {
			require.NoError(t, tool.SendOn(1, 1, netcode.KindSchemaRequest, netcode.SchemaRequest{Name: "other"}.Append(nil)))
		}
		if i%4 == 0 {
			require.NoError(t, server.SendReliable(netcode.Tick(i), 1, nil))
		}
		_, d := finish(tool.Begin(now))
		if rng.IntN(4) > 0 {
			require.NoError(t, server.Receive(now, d))
		}
		for r, ok := server.NextReliable(); ok; r, ok = server.NextReliable() {
			require.Equal(t, netcode.KindSchemaRequest, r.Kind)
			require.NoError(t, answers.Answer(server, r.Channel, 5, r.Payload))
		}
		_, d = finish(server.Begin(now))
		if rng.IntN(4) > 0 {
			require.NoError(t, tool.Receive(now, d))
		}
		for r, ok := tool.NextReliable(); ok; r, ok = tool.NextReliable() {
			if r.Channel == 0 {
				chat++
				continue
			}
			require.Equal(t, netcode.KindSchemaReply, r.Kind)
			reply, err := netcode.ParseSchemaReply(r.Payload)
			require.NoError(t, err)
			reply.Data = append([]byte(nil), reply.Data...)
			got = append(got, reply)
		}
	}
	require.Equal(t, []netcode.SchemaReply{{Known: true, Hash: hash, Name: "arena", Data: schema}, {Name: "other"}}, got)
	require.Greater(t, chat, 15)
	for range 1000 {
		require.NoError(t, answers.Answer(server, 1, 1, netcode.SchemaRequest{Name: "guess"}.Append(nil)))
	}
	require.Equal(t, 63, server.Pending(), "one such answer went before")
}
