// Package ecs is a columnar entity component system for netcode: systems are
// loops over slices, a world (or one player's part of it) is saved and restored
// at the speed of memcpy with its exact row order, and one system body runs for
// everybody or for one player.
package ecs
