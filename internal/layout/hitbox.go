package layout

import "github.com/foretick/foretick/ecs"

// Hitbox is a declaration that builds hitboxes from an entity's public components.
type Hitbox struct {
	Components []int // registry indices, in the order of the declaration
	IDs        []ecs.ID
	Own        int // its number in this build
}

// Life tells an entity's lives apart by a component that both ends have.
type Life struct {
	Component int // registry index
	Own       int // its number in this build
}

// Track is a component whose value of each tick is kept.
type Track struct {
	Component int // registry index
	ID        ecs.ID
}
