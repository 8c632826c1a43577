package dtls_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/foretick/foretick/internal/fieldtest"
	"github.com/foretick/foretick/transport"
	"github.com/foretick/foretick/transport/dtls"
)

// TestConfigNumbers: zero is the default, negative is off or an error, and an
// absurd value is an error that names the field.
func TestConfigNumbers(t *testing.T) {
	cert, err := dtls.NewCertificate()
	require.NoError(t, err)
	fieldtest.Config[dtls.Config](t, fieldtest.Rules{
		Off: []string{"MaxHandshakesPerAddr", "HelloRate", "SendQueue", "SocketBuffer"},
	}, func(c dtls.Config) error {
		c.Certificate = &cert
		e, err := dtls.Listen("127.0.0.1:0", c)
		if err != nil {
			return err
		}
		return e.Close(transport.Closed, "")
	})
}
