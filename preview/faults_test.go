package preview_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/foretick/foretick"
	"github.com/foretick/foretick/preview"
	"github.com/foretick/foretick/transport/sim"
)

func TestPreviewFaults(t *testing.T) {
	g, h := &stageGame{}, &stageGame{}
	net := sim.NewNetwork(1)
	listen := net.Listen()
	for want, err := range map[string]error{
		"Transport":              second(preview.New(foretick.ServerConfig{Protocol: g.Protocol(), Transport: listen}, foretick.ClientConfig{})),
		"ServerConfig.Protocol":  second(preview.New(foretick.ServerConfig{}, foretick.ClientConfig{})),
		"two Protocols":          second(preview.New(foretick.ServerConfig{Protocol: new(stageGame).Protocol()}, foretick.ClientConfig{Protocol: h.Protocol()})),
		"ClientConfig.Observe":   second(preview.New(foretick.ServerConfig{Protocol: new(stageGame).Protocol()}, foretick.ClientConfig{Observe: true})),
		"ClientConfig.Sample is": second(preview.New(foretick.ServerConfig{Protocol: new(stageGame).Protocol()}, foretick.ClientConfig{Sample: foretick.Sample(&h.input, func(foretick.View) stageInput { return stageInput{} })})),
	} {
		require.ErrorContains(t, err, want)
	}
}

func second[T any](_ T, err error) error { return err }
