//go:build !js

package ws_test

import (
	"testing"

	"github.com/foretick/foretick/transport"
	"github.com/foretick/foretick/transport/internal/nettest"
	"github.com/foretick/foretick/transport/ws"
)

func TestAcceptHookCallsBack(t *testing.T) {
	nettest.Hook(t, func(accept transport.Accept) transport.BanList {
		srv := listen(t, ws.Config{Accept: accept})
		t.Cleanup(func() { srv.Close(0, "") })
		return srv
	}, func(srv transport.BanList, token string) transport.Endpoint {
		return dial(t, srv.(*site).url(), ws.Config{Token: []byte(token)})
	})
}

func TestAcceptHookFails(t *testing.T) {
	nettest.HookFails(t, func(accept transport.Accept, log transport.Logger) transport.BanList {
		srv := listen(t, ws.Config{Accept: accept, Logger: log})
		t.Cleanup(func() { srv.Close(0, "") })
		return srv
	}, func(srv transport.BanList, token string) transport.Endpoint {
		return dial(t, srv.(*site).url(), ws.Config{Token: []byte(token)})
	}, func(srv transport.BanList) uint64 { return srv.(*site).Counters().AcceptPanics })
}
