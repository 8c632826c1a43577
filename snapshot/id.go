package snapshot

import "github.com/foretick/foretick/schema"

// NetID names an entity on the server. It is never used for another entity, and never
// leaves the server. Give ids in the order of creation, so that packets do not depend
// on entities that their viewers cannot see. Zero is none.
type NetID uint32

// Everyone as an owner makes every viewer an owner. Each receives the entity among its
// own, on the simulation grid. Use it for entities that all viewers predict, such as a
// crate that any player may push.
const Everyone uint16 = 0xFFFF

// after reports whether a is later than b, also where the ticks of a user of this package wrap.
func after(a, b schema.Tick) bool { return int32(a-b) > 0 }
