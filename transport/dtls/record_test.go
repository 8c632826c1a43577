package dtls

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"os"
	"testing"

	"github.com/pion/dtls/v2/pkg/protocol"
	"github.com/pion/dtls/v2/pkg/protocol/recordlayer"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/foretick/foretick/internal/costtest"
	"github.com/foretick/foretick/transport"
)

func testKeys(t testing.TB) *keys {
	s := &suite{psk: true}
	require.NoError(t, s.Init(bytes.Repeat([]byte{1}, 48), bytes.Repeat([]byte{2}, 32), bytes.Repeat([]byte{3}, 32), true))
	return s.keys.Load()
}

// The AEAD is the one of RFC 8439, section 2.8.2, and the nonce of RFC 7905 leads to its vector.
func TestAEADVector(t *testing.T) {
	key, _ := hex.DecodeString("808182838485868788898a8b8c8d8e8f909192939495969798999a9b9c9d9e9f")
	nonce, _ := hex.DecodeString("070000004041424344454647")
	a, _ := hex.DecodeString("50515253c0c1c2c3c4c5c6c7")
	plain := []byte("Ladies and Gentlemen of the class of '99: If I could offer you only one tip for the future, sunscreen would be it.")
	h, err := newHalf(key, nonce)
	require.NoError(t, err)
	out := h.aead.Seal(nil, nonce, plain, a)
	assert.Equal(t, "1ae10b594f09e26a7e902ecbd0600691", hex.EncodeToString(out[len(plain):]))

	// IV ^ 00000000‖epoch‖sequence is the vector's nonce, if the IV is chosen so.
	header := []byte{typeData, 0xFE, 0xFD, 0, 1, 0, 0, 0, 0, 0, 5, 0, 0}
	for i := range 8 {
		h.iv[4+i] = nonce[4+i] ^ header[3+i]
	}
	var s scratch
	s.setNonce(&h.iv, header)
	assert.Equal(t, nonce, s.nonce[:])
	s.setAdditional(header, 0x0203)
	assert.Equal(t, "000100000000000517fefd0203", hex.EncodeToString(s.additional[:]))
}

// A record as the document has it, byte for byte.
func TestGoldenRecord(t *testing.T) {
	k := testKeys(t)
	w := writer{half: k.write, next: firstSequence}
	b, err := w.appendRecord(nil, typeData, append([]byte{msgData}, "hi"...))
	require.NoError(t, err)
	doc, err := os.ReadFile("../../docs/STANDARD-dtls.md")
	require.NoError(t, err)
	assert.Contains(t, string(doc), "`"+hex.EncodeToString(b)+"`")
	r := reader{half: k.write}
	plain, err := r.readRecord(nil, b)
	require.NoError(t, err)
	assert.Equal(t, "\x00hi", string(plain))
	_, err = r.readRecord(nil, b)
	assert.ErrorIs(t, err, errReplayed)
	for bit := range len(b) * 8 {
		c := bytes.Clone(b)
		c[bit/8] ^= 1 << (bit % 8)
		fresh := reader{half: k.write}
		if c[0] != b[0] || bit/8 >= 3 { // the version is checked by the guard, and authenticated as well
			_, err := fresh.readRecord(nil, c)
			require.Error(t, err, "bit %d", bit)
			require.Zero(t, fresh.window.next, "what is forged does not move the window")
		}
	}
	w.next = lastSequence + 1
	_, err = w.appendRecord(nil, typeData, nil)
	assert.ErrorIs(t, err, errSequence)
}

// Records of the library and of this package never share a nonce.
func TestLibraryStaysBelow(t *testing.T) {
	s := &suite{psk: true}
	r := &recordlayer.RecordLayer{Header: recordlayer.Header{Epoch: 1, SequenceNumber: firstSequence,
		Version: protocol.Version1_2}, Content: &protocol.ApplicationData{Data: []byte("x")}}
	raw, err := r.Marshal()
	require.NoError(t, err)
	_, err = s.Encrypt(r, raw)
	assert.ErrorIs(t, err, errNoKeys)
	require.NoError(t, s.Init(make([]byte, 48), make([]byte, 32), make([]byte, 32), false))
	_, err = s.Encrypt(r, raw)
	assert.ErrorIs(t, err, errSequence)
	_, err = s.Decrypt([]byte{1})
	assert.Error(t, err)
}

// The window accepts each number once, as a set would, but rejects those that are too old to know.
func TestWindow(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var w window
		seen := map[uint64]bool{}
		newest := uint64(0)
		at := rapid.SampledFrom([]uint64{0, 1000, firstSequence, lastSequence - 5000}).Draw(t, "from")
		for range rapid.IntRange(1, 400).Draw(t, "n") {
			n := at + uint64(rapid.IntRange(0, 600).Draw(t, "ahead"))
			if rapid.Bool().Draw(t, "advance") {
				at += uint64(rapid.IntRange(0, 40).Draw(t, "step"))
			}
			want := !seen[n] && (len(seen) == 0 || n+windowSize > newest)
			require.Equal(t, want, w.fresh(n), "%d, newest %d", n, newest)
			if want {
				w.markSeen(n)
				seen[n] = true
				newest = max(newest, n)
			}
		}
	})
}

func TestRecordsAllocateNothing(t *testing.T) {
	costtest.Allocations(t)
	k := testKeys(t)
	w, r := writer{half: k.write, next: firstSequence}, reader{half: k.write}
	payload, buf, out := make([]byte, 200), make([]byte, 0, 1500), make([]byte, 0, 1500)
	assert.Zero(t, testing.AllocsPerRun(100, func() {
		b, err := w.appendRecord(buf, typeData, payload)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := r.readRecord(out, b); err != nil {
			t.Fatal(err)
		}
	}))
}

func plainRecord(kind byte, ep uint16, seq uint64, payload ...byte) []byte {
	b := []byte{kind, 0xFE, 0xFD}
	b = binary.BigEndian.AppendUint64(b, uint64(ep)<<48|seq)
	b = binary.BigEndian.AppendUint16(b, uint16(len(payload)))
	return append(b, payload...)
}

func message(kind byte, length, offset, size int, body ...byte) []byte {
	b := []byte{kind, byte(length >> 16), byte(length >> 8), byte(length), 0, 0, byte(offset >> 16), byte(offset >> 8),
		byte(offset), byte(size >> 16), byte(size >> 8), byte(size)}
	return append(b, body...)
}

func TestGuard(t *testing.T) {
	big := make([]byte, 40)
	for _, c := range []struct {
		name         string
		record       []byte
		before, then verdict
	}{
		{"plain handshake", plainRecord(typeHandshake, 0, 1, message(1, 2, 0, 2, 9, 9)...), library, drop},
		{"two messages", plainRecord(typeHandshake, 0, 1, append(message(2, 1, 0, 1, 9), message(14, 0, 0, 0)...)...), library, drop},
		{"fragment", plainRecord(typeHandshake, 0, 1, message(11, 900, 10, 2, 9, 9)...), library, drop},
		{"fragment beyond its message", plainRecord(typeHandshake, 0, 1, message(11, 11, 10, 2, 9, 9)...), drop, drop},
		{"fragment of nothing", plainRecord(typeHandshake, 0, 1, message(11, 11, 10, 0)...), drop, drop},
		{"something after a fragment", plainRecord(typeHandshake, 0, 1, append(message(11, 11, 0, 1, 9), 1, 2, 3)...), drop, drop},
		{"fragment longer than its record", plainRecord(typeHandshake, 0, 1, message(11, 11, 0, 3, 9)...), drop, drop},
		{"huge message", plainRecord(typeHandshake, 0, 1, message(11, 1<<24-1, 0, 1, 9)...), drop, drop},
		{"short message", plainRecord(typeHandshake, 0, 1, 1, 2, 3), drop, drop},
		{"CCS", plainRecord(typeCCS, 0, 1, 1), library, drop},
		{"bad CCS", plainRecord(typeCCS, 0, 1, 2), drop, drop},
		{"long CCS", plainRecord(typeCCS, 0, 1, 1, 1), drop, drop},
		{"plain alert", plainRecord(typeAlert, 0, 1, 2, 80), drop, drop},
		{"plain close_notify", plainRecord(typeAlert, 0, 1, 1, 0), drop, drop},
		{"plain data", plainRecord(typeData, 0, 1, 1, 2, 3), drop, drop},
		{"unknown type", plainRecord(99, 0, 1, 1), drop, drop},
		{"heartbeat", plainRecord(24, 1, 1, big...), drop, drop},
		{"CCS of epoch 1", plainRecord(typeCCS, 1, 1, big...), drop, drop},
		{"protected handshake", plainRecord(typeHandshake, 1, 1, big...), library, library},
		{"protected data", plainRecord(typeData, 1, 1, big...), ours, ours},
		{"protected alert", plainRecord(typeAlert, 1, 1, big...), ours, ours},
		{"too short to be protected", plainRecord(typeData, 1, 1, 1), drop, drop},
		{"epoch 2", plainRecord(typeData, 2, 1, big...), drop, drop},
		{"another version", append([]byte{typeData, 3, 3}, plainRecord(typeData, 1, 1, big...)[3:]...), drop, drop},
	} {
		r, rest, ok := next(c.record)
		require.True(t, ok, c.name)
		require.Empty(t, rest)
		assert.Equal(t, c.before, (&guard{}).judgeRecord(r), c.name)
		assert.Equal(t, c.then, (&guard{done: true}).judgeRecord(r), c.name)
	}
	var g guard
	r := plainRecord(typeHandshake, 0, 1, message(1, 1000, 0, 1000, make([]byte, 1000)...)...)
	passed := 0
	for g.judgeRecord(r) == library {
		passed += len(r)
	}
	assert.LessOrEqual(t, passed, libraryBudget)
	assert.Greater(t, passed, libraryBudget-2*len(r))

	assert.True(t, outward(append(plainRecord(typeCCS, 0, 1, 1), plainRecord(typeHandshake, 1, 1, big...)...)))
	assert.False(t, outward(plainRecord(typeAlert, 1, 1, big...)))
	assert.False(t, outward(plainRecord(typeData, 1, 1, big...)))
	assert.False(t, outward([]byte{1}))
}

// FuzzGuard passes datagrams to the guard and to the opening of records, as the endpoint does.
func FuzzGuard(f *testing.F) {
	k := testKeys(f)
	w := writer{half: k.write, next: firstSequence}
	genuine, err := w.appendRecord(nil, typeData, []byte("\x00hi"))
	require.NoError(f, err)
	f.Add(genuine)
	f.Add(plainRecord(typeAlert, 0, 1, 2, 80))
	f.Add(plainRecord(typeHandshake, 0, 1, message(1, 2, 0, 2, 9, 9)...))
	f.Add(append(plainRecord(typeCCS, 0, 1, 1), plainRecord(typeHandshake, 1, 1, make([]byte, 40)...)...))
	f.Fuzz(func(t *testing.T, b []byte) {
		costtest.Bound(t, len(b), func() {
			g, r := guard{}, reader{half: k.write}
			for b := b; len(b) > 0; {
				record, rest, ok := next(b)
				if !ok {
					break
				}
				if b = rest; g.judgeRecord(record) == ours {
					_, _ = r.readRecord(nil, record)
				}
			}
			outward(b)
		})
		for _, done := range []bool{false, true} {
			g, r := guard{done: done}, reader{half: k.write}
			for b := b; len(b) > 0; {
				record, rest, ok := next(b)
				if !ok {
					break
				}
				if len(rest) >= len(b) {
					t.Fatal("no end")
				}
				b = rest
				switch v := g.judgeRecord(record); {
				case v == library && done && (record[0] != typeHandshake || record[4] != epoch):
					t.Fatalf("%x reaches the library of a live session", record)
				case v == library && record[0] == typeAlert || v == library && record[0] == typeData:
					t.Fatalf("%x reaches the library", record)
				case v == ours:
					if plain, err := r.readRecord(nil, record); err == nil && !bytes.Equal(record, genuine) {
						t.Fatalf("%x opened to %x", record, plain)
					}
				}
			}
			outward(b)
		}
	})
}

// FuzzMessages passes authentic messages to a server and a client, as a client with a ticket can
// send them.
func FuzzMessages(f *testing.F) {
	f.Add([]byte{msgData, 1, 2})
	f.Add([]byte{msgHello})
	f.Add([]byte{msgAccept})
	f.Add([]byte{msgAlive, 1})
	f.Add(appendEnd(nil, 300, "bye"))
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, b []byte) {
		if len(b) > 1100 {
			b = b[:1100]
		}
		k := testKeys(t)
		for _, client := range []bool{false, true} {
			for _, s := range []state{greeting, open} {
				e := newEndpoint(deaf{}, Config{}.withDefaults())
				p := &peer{state: s, below: 1, write: writer{half: k.write, next: firstSequence}}
				if client {
					e.dial = p
				}
				if client || s == open {
					p.id = e.peers.Add(p)
					p.q = e.in.Add(p.id, s == open)
				}
				e.links[1] = p
				costtest.Bound(t, len(b), func() {
					e.mu.Lock()
					e.handleMessage(p, append(e.buf[:0], b...))
					e.mu.Unlock()
				})
				var ev [4]transport.Event
				e.Recv(ev[:])
			}
		}
	})
}

// deaf is an endpoint that does nothing.
type deaf struct{ transport.Endpoint }

func (deaf) Send(transport.PeerID, []byte) error                 { return nil }
func (deaf) Disconnect(transport.PeerID, transport.Code, string) {}
func (deaf) Info(transport.PeerID, *transport.Info) bool         { return false }
func (deaf) Close(transport.Code, string) error                  { return nil }
