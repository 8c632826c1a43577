package schema

import "github.com/foretick/foretick/internal/quantise"

// Audience is a set of classes of viewers, as seen from an entity. A field or component
// with an audience is sent to viewers in any of its classes, and does not exist for
// others: for one that could see it before, it becomes the prefab's default. The empty set means every viewer. Fields name theirs with tags: owner, allies,
// enemies, to=NAME.
type Audience uint8

const (
	// ToOwner is the entity's owner. It receives predicted components on the
	// simulation grid.
	ToOwner Audience = 1 << iota
	// ToAllies are the viewers of the entity's team, and its owner. Team 0 means no team: an
	// entity without a team has no ally but its owner.
	ToAllies
	// ToEnemies are the viewers of another team. Team 0 means no team: a viewer
	// or an entity without a team has no enemies.
	ToEnemies
)

// MaxAudiences is the greatest number of game-defined audiences.
const MaxAudiences = quantise.MaxAudiences

// GameAudience returns the i-th game-defined audience, in the order of
// [Options].Audiences.
func GameAudience(i int) Audience { return Audience(quantise.FirstOwn) << i }
