package preview_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/foretick/foretick/client"
	"github.com/foretick/foretick/preview"
	"github.com/foretick/foretick/server"
	"github.com/foretick/foretick/transport/sim"
)

func TestPreviewFaults(t *testing.T) {
	g, h := &stageGame{}, &stageGame{}
	net := sim.NewNetwork(1)
	listen := net.Listen()
	for want, err := range map[string]error{
		"Transport":               second(preview.New(server.Config{Protocol: g.Protocol(), Transport: listen}, client.Config{})),
		"server.Config.Protocol":  second(preview.New(server.Config{}, client.Config{})),
		"two Protocols":           second(preview.New(server.Config{Protocol: new(stageGame).Protocol()}, client.Config{Protocol: h.Protocol()})),
		"client.Config.Observe":   second(preview.New(server.Config{Protocol: new(stageGame).Protocol()}, client.Config{Observe: true})),
		"client.Config.Sample is": second(preview.New(server.Config{Protocol: new(stageGame).Protocol()}, client.Config{Sample: client.Sample(&h.input, func(client.View) stageInput { return stageInput{} })})),
	} {
		require.ErrorContains(t, err, want)
	}
}

func second[T any](_ T, err error) error { return err }
