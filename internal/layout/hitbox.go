package layout

import "github.com/foretick/foretick/ecs"

// Hitbox is a declaration that builds hitboxes from an entity's public components.
type Hitbox struct {
	Components []int // Components are registry indices, in the order of the declaration.
	IDs        []ecs.ID
	Own        int // Own is its number in this build.
}

// Life distinguishes an entity's lives by a component that both ends have.
type Life struct {
	Component int // Component is a registry index.
	Own       int // Own is its number in this build.
}

// Track is a component whose value of each tick is kept.
type Track struct {
	Component int // Component is a registry index.
	ID        ecs.ID
}
