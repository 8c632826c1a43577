package dtls_test

import (
	"testing"

	"github.com/foretick/foretick/transport"
	"github.com/foretick/foretick/transport/dtls"
	"github.com/foretick/foretick/transport/internal/nettest"
)

func TestAcceptHookCallsBack(t *testing.T) {
	cert := certificate(t)
	for name, cfg := range map[string]dtls.Config{"certificate": {Certificate: cert}, "ticket": {}} {
		t.Run(name, func(t *testing.T) {
			nettest.Hook(t, func(accept transport.Accept) transport.BanList {
				cfg.Accept = accept
				return listen(t, cfg)
			}, func(srv transport.BanList, token string) transport.Endpoint {
				to := addr(srv.(*dtls.Endpoint))
				if cfg.Certificate != nil {
					return dial(t, to, dtls.Config{Pins: []dtls.Pin{dtls.PinOf(*cert)}, Token: []byte(token)})
				}
				return dial(t, to, dtls.Config{Ticket: issue(t, token)})
			})
		})
	}
}

func TestAcceptHookFails(t *testing.T) {
	cert := certificate(t)
	nettest.HookFails(t, func(accept transport.Accept, log transport.Logger) transport.BanList {
		return listen(t, dtls.Config{Certificate: cert, Accept: accept, Logger: log})
	}, func(srv transport.BanList, token string) transport.Endpoint {
		return dial(t, addr(srv.(*dtls.Endpoint)), dtls.Config{Pins: []dtls.Pin{dtls.PinOf(*cert)}, Token: []byte(token)})
	}, func(srv transport.BanList) uint64 { return srv.(*dtls.Endpoint).Counters().AcceptPanics })
}
