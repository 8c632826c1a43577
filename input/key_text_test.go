package input_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/foretick/foretick/input"
)

func TestDeviceKindText(t *testing.T) {
	for want, k := range map[string]input.DeviceKind{
		"keyboard, mouse, gamepad, touch, other": input.AnyDevice, "mouse": input.MouseDevice, "none": 0,
		"touch, devices 0x80": input.TouchDevice | 0x80,
	} {
		require.Equal(t, want, k.String())
	}
}
