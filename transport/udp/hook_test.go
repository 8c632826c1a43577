package udp_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/foretick/foretick/transport"
	"github.com/foretick/foretick/transport/internal/nettest"
	"github.com/foretick/foretick/transport/udp"
)

func TestAcceptHookCallsBack(t *testing.T) {
	var srv *udp.Endpoint
	nettest.Hook(t, func(accept transport.Accept) transport.BanList {
		var err error
		srv, err = udp.Listen("127.0.0.1:0", udp.Config{Accept: accept})
		require.NoError(t, err)
		t.Cleanup(func() { srv.Close(0, "") })
		return srv
	}, func(_ transport.BanList, token string) transport.Endpoint {
		cli, err := udp.Dial(srv.LocalAddr().String(), udp.Config{Token: []byte(token)})
		require.NoError(t, err)
		t.Cleanup(func() { cli.Close(0, "") })
		return cli
	})
}

func TestAcceptHookFails(t *testing.T) {
	var srv *udp.Endpoint
	nettest.HookFails(t, func(accept transport.Accept, log transport.Logger) transport.BanList {
		srv = listen(t, "127.0.0.1:0", udp.Config{Accept: accept, Logger: log})
		return srv
	}, func(_ transport.BanList, token string) transport.Endpoint {
		return dial(t, srv.LocalAddr().String(), udp.Config{Token: []byte(token)})
	}, func(transport.BanList) uint64 { return srv.Counters().AcceptPanics })
}
