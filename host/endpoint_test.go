package host

import (
	"bytes"
	"fmt"
	"log/slog"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/foretick/foretick/stats"
	"github.com/foretick/foretick/transport"
	"github.com/foretick/foretick/transport/dtls"
	"github.com/foretick/foretick/transport/multi"
	"github.com/foretick/foretick/transport/ticket"
	"github.com/foretick/foretick/transport/ws"
)

// lobby is a host over DTLS and WebSocket. Its key differs from the matchmaker's.
type lobby struct {
	*testing.T
	host   *Host
	now    time.Time
	log    bytes.Buffer
	native string
	web    string
	at     netip.AddrPort
}

func newLobby(t *testing.T) *lobby {
	t.Helper()
	l := &lobby{T: t, now: time.Unix(5000, 0), at: netip.MustParseAddrPort("192.0.2.7:27015")}
	gate, err := ticket.NewGate(ticket.NewKey(), []netip.AddrPort{l.at}, nil)
	require.NoError(t, err)
	native, err := dtls.Listen("127.0.0.1:0", dtls.Config{Gate: gate})
	require.NoError(t, err)
	web, err := ws.Listen("127.0.0.1:0", ws.Config{Accept: gate.Accept})
	require.NoError(t, err)
	joined, err := multi.New(native, web)
	require.NoError(t, err)
	below, ok := transport.As[interface{ LocalAddr() netip.AddrPort }](native)
	require.True(t, ok)
	l.native, l.web = below.LocalAddr().String(), "ws://"+web.LocalAddr().String()
	l.host, err = New(Config{Transport: joined, NewMatch: func(string, transport.Endpoint) (Match, error) { return nil, nil }, Logger: slog.New(slog.NewTextHandler(&l.log, nil))})
	require.NoError(t, err)
	return l
}

// ticket returns a ticket for a player, made with another key than the host's.
func (l *lobby) ticket(name string) *ticket.Ticket {
	t, err := ticket.Issue(ticket.NewKey(), ticket.Claims{Match: "m", Identity: []byte(name), Expires: time.Now().Add(time.Minute), Servers: []netip.AddrPort{l.at}})
	require.NoError(l, err)
	return t
}

// refusedBy waits until an endpoint has refused a client.
func (l *lobby) refusedBy(e transport.Endpoint, err error) {
	l.Helper()
	require.NoError(l, err)
	var ev [4]transport.Event
	for {
		if n := e.Recv(ev[:]); n > 0 {
			require.Equal(l, transport.Disconnected, ev[0].Kind)
			require.Equal(l, transport.Refused, ev[0].Code, ev[0].Reason)
			require.Contains(l, ev[0].Reason, "not issued under this key")
			require.NoError(l, e.Close(0, ""))
			return
		}
		<-e.Ready()
	}
}

func (l *lobby) knock(n int) {
	l.Helper()
	for i := range n {
		b, err := l.ticket(fmt.Sprint("native ", i)).MarshalBinary()
		require.NoError(l, err)
		l.refusedBy(dtls.Dial(l.native, dtls.Config{Ticket: b}))
		l.refusedBy(ws.Dial(l.web, ws.Config{Token: l.ticket(fmt.Sprint("web ", i)).Sealed}))
	}
}

func (l *lobby) pass(d time.Duration) {
	for end := l.now.Add(d); l.now.Before(end); {
		l.now = l.now.Add(500 * time.Millisecond)
		l.host.Step(l.now)
	}
}

// forged returns how many peers the endpoints refused because their tickets are of another key, by
// layer.
func (l *lobby) forged() (udp, web int) {
	var sum stats.Host
	l.host.Figures(&sum)
	for _, c := range sum.Endpoint {
		if c.Name == "forged" && c.Refusal != "" {
			require.Equal(l, "ticket: not issued under this key", c.Refusal)
			switch c.Part + " " + c.Layer {
			case "dtls udp":
				udp = int(c.N)
			case "ws ws":
				web = int(c.N)
			default:
				l.Fatalf("%+v", c)
			}
		}
	}
	return udp, web
}

// TestWrongTicketKey: a host with a wrong key refuses all players. Its log reports that in one line a
// minute, with the number, and its figures count the peers by reason, endpoint and part.
func TestWrongTicketKey(t *testing.T) {
	l := newLobby(t)
	l.pass(time.Second)
	require.Empty(t, l.log.String())
	require.Zero(t, l.host.Stats().Refused, "the host never sees them")
	for minute := range 3 {
		l.knock(2)
		l.pass(2 * time.Second)
		require.Equal(t, 1+minute, strings.Count(l.log.String(), "peers refused"), "at once")
		l.knock(1) // the next line counts it
		l.pass(55 * time.Second)
		require.Equal(t, 1+minute, strings.Count(l.log.String(), "peers refused"), "one a minute: %s", l.log.String())
		native, web := l.forged()
		require.Equal(t, 3*(minute+1), web)
		require.GreaterOrEqual(t, native, web, "a client may have asked twice")
		if minute < 2 {
			l.pass(2500 * time.Millisecond)
		}
	}
	l.pass(5 * time.Minute)
	require.NoError(t, l.host.Close(""))
	native, web := l.forged()
	told := 0
	for line := range strings.Lines(l.log.String()) {
		_, text, _ := strings.Cut(line, `msg="`)
		n := 0
		_, err := fmt.Sscanf(text, "%d peers refused in the last minute: ticket: not issued under this key", &n)
		require.NoError(t, err, line)
		told += n
	}
	require.Equal(t, native+web, told, "each is told once")
}
