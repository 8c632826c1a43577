package inspect

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/schema"
)

// EntityID is an entity's handle in its own world. In JSON it is a string, because it does
// not fit into a number of JavaScript's.
type EntityID uint64

// String returns the decimal number.
func (id EntityID) String() string { return strconv.FormatUint(uint64(id), 10) }

// MarshalText returns the decimal number.
func (id EntityID) MarshalText() ([]byte, error) { return []byte(id.String()), nil }

// UnmarshalText reads the decimal number.
func (id *EntityID) UnmarshalText(b []byte) error {
	n, err := strconv.ParseUint(string(b), 10, 64)
	if err != nil {
		return fmt.Errorf("inspect: entity %q: use the number that the list of entities has", b)
	}
	*id = EntityID(n)
	return nil
}

// Entity is an entity of an end's world.
type Entity struct {
	ID         EntityID `json:"id"`
	Net        uint32   `json:"net"`              // number of the entity on the network; 0: it is not replicated
	Prefab     string   `json:"prefab,omitempty"` // empty: the entity is not replicated
	Owner      uint16   `json:"owner"`            // number of the owning player; 0: nobody
	Components []string `json:"components"`
}

// EntityQuery chooses entities. The zero EntityQuery chooses all.
type EntityQuery struct {
	Text string // words that must be in the prefab or the components, or "player N" or "net N"
	Most int    // how many entities to list: 0 means 200; at most 1000
}

// Entities is a part of an end's entities.
type Entities struct {
	Tick  Tick     `json:"tick"`
	Total int      `json:"total"` // entities that match the query
	List  []Entity `json:"list"`  // the first of the matching entities, in the order of the world's tables
}

const mostEntities = 1000

// Entities lists the entities of an end.
func (in *Inspector) Entities(ctx context.Context, name string, q EntityQuery) (Entities, error) {
	e, err := in.findEnd(name)
	if err != nil {
		return Entities{}, err
	}
	most := q.Most
	if most <= 0 {
		most = defaultMost
	}
	most = min(most, mostEntities)
	words := strings.Fields(strings.ToLower(q.Text))
	var out Entities
	err = e.askEnd(ctx, func() {
		w := e.world()
		out.Tick = e.newest.Load()
		for _, rows := range e.all.All(w) {
			names := componentNames(w.Types(), rows.Mask())
			for _, id := range rows.Entities() {
				one := Entity{ID: EntityID(id), Owner: owner(rows.Owner()), Components: names}
				one.Net, one.Prefab, _ = e.internals.Named(id)
				if !one.matches(words) {
					continue
				}
				if out.Total++; len(out.List) < most {
					out.List = append(out.List, one)
				}
			}
		}
	})
	if err != nil {
		return Entities{}, err
	}
	return out, nil
}

func (e *Entity) matches(words []string) bool {
	if len(words) == 0 {
		return true
	}
	text := strings.ToLower(fmt.Sprintf("%s %s player %d net %d id %d", e.Prefab, strings.Join(e.Components, " "), e.Owner, e.Net, e.ID))
	for i, w := range words {
		if i > 0 && (words[i-1] == "player" || words[i-1] == "net" || words[i-1] == "id") { // compares the whole number
			if !strings.Contains(text+" ", " "+words[i-1]+" "+w+" ") {
				return false
			}
			continue
		}
		if !strings.Contains(text, w) {
			return false
		}
	}
	return true
}

// owner returns a player's number, 0 for entities that no player owns.
func owner(o ecs.Owner) uint16 {
	if o == ecs.Common || o == ecs.ClientOnly {
		return 0
	}
	return uint16(o)
}

func componentNames(t *ecs.Types, m ecs.Mask) (names []string) {
	for _, id := range shown(t, m) {
		names = append(names, t.Info(id).Name)
	}
	return names
}

// shown returns the components of a mask without those of the library itself.
func shown(t *ecs.Types, m ecs.Mask) (ids []ecs.ID) {
	for _, id := range m.IDs() {
		if int(id) < t.Len() && !strings.HasPrefix(t.Info(id).Name, "foretick.") {
			ids = append(ids, id)
		}
	}
	return ids
}

// Component is a component of an entity, or a singleton, with its values.
type Component struct {
	Name       string  `json:"name"`
	Replicated bool    `json:"replicated"`
	Predicted  bool    `json:"predicted"`
	Fields     []Field `json:"fields"`
}

// Field is a value of a component.
type Field struct {
	Path     string   `json:"path"` // component and field, such as Position.X
	Value    any      `json:"value"`
	Text     string   `json:"text"` // the value with its unit, or its name if the game named the values
	Type     string   `json:"type"` // type in Go
	Label    string   `json:"label,omitempty"`
	Unit     string   `json:"unit,omitempty"`
	Names    []string `json:"names,omitempty"`  // names of the values 0, 1, 2 and so on
	Ranged   bool     `json:"ranged,omitempty"` // the field's tag has a range: Min, Max and Step
	Min      float64  `json:"min"`
	Max      float64  `json:"max"`
	Step     float64  `json:"step,omitempty"`
	Audience string   `json:"audience,omitempty"` // who receives the field; empty: everybody
	Editable bool     `json:"editable,omitempty"` // Inspector.Edit can set the field
}

// Values is an entity with the values of its components.
type Values struct {
	Entity
	Tick   Tick        `json:"tick"`
	Parent EntityID    `json:"parent,omitempty"`
	Has    []Component `json:"has"`
}

// Values returns the values of an entity. The id 0 returns the singletons of the world. The
// error wraps [ecs.ErrStale] for an entity that is gone.
func (in *Inspector) Values(ctx context.Context, name string, id EntityID) (Values, error) {
	e, err := in.findEnd(name)
	if err != nil {
		return Values{}, err
	}
	var out Values
	var gone error
	err = e.askEnd(ctx, func() { out, gone = e.values(ecs.Entity(id)) })
	if err != nil {
		return Values{}, err
	}
	return out, gone
}

func (e *end) values(id ecs.Entity) (out Values, err error) {
	w := e.world()
	out.ID, out.Tick = EntityID(id), e.newest.Load()
	if id == ecs.None {
		out.Prefab = "(singletons)"
		for _, info := range w.Types().Singletons() {
			out.Has = append(out.Has, e.describeComponent(info, e.schemaOf(info.Name), w.SingletonValue))
		}
		return out, nil
	}
	rows, ok := ecs.Engine(w).Row(id)
	if !ok {
		return out, fmt.Errorf("inspect: entity %v of %s: %w", id, e.name, ecs.ErrStale)
	}
	out.Owner, out.Parent = owner(rows.Owner()), EntityID(w.Parent(id))
	out.Components = componentNames(w.Types(), rows.Mask())
	out.Net, out.Prefab, _ = e.internals.Named(id)
	for _, c := range shown(w.Types(), rows.Mask()) {
		out.Has = append(out.Has, e.describeComponent(w.Types().Info(c), e.schema(c), func(path string) (any, error) { return w.Value(id, path) }))
	}
	return out, nil
}

// schema returns the schema of a component, nil if it is not sent.
func (e *end) schema(id ecs.ID) *schema.Schema {
	l := e.internals.Layout()
	if i := l.Index(id); i >= 0 {
		return l.Components[i].Schema
	}
	return nil
}

func (e *end) describeComponent(info ecs.TypeInfo, s *schema.Schema, value func(path string) (any, error)) Component {
	c := Component{Name: info.Name, Replicated: s != nil, Predicted: s != nil && s.Predicted()}
	sent := e.sentFields(info.Name, s)
	for _, f := range info.Fields {
		v, err := value(f.Path)
		if err != nil {
			continue
		}
		label := e.internals.Label(info.Name, strings.TrimPrefix(strings.TrimPrefix(f.Path, info.Name), "."))
		out := Field{Path: f.Path, Type: f.Type.String(), Label: label.Name, Unit: label.Unit, Names: f.Enum, Text: label.Text(v), Value: plain(v)}
		out.Editable = e.role == "server" && editable(info.Name, f.Type)
		if of, ok := sent[f.Path]; ok {
			out.Audience = e.audience(of.Audience)
			if of.Min != 0 || of.Max != 0 && f.Type.Kind() != reflect.Bool {
				out.Ranged, out.Min, out.Max, out.Step = true, of.Min, of.Max, of.Step
			}
		}
		c.Fields = append(c.Fields, out)
	}
	return c
}

// sentFields returns the fields that are sent of a component, by their path.
func (e *end) sentFields(name string, s *schema.Schema) map[string]schema.Field {
	if s == nil {
		return nil
	}
	all := map[string]schema.Field{}
	for _, f := range s.Fields() {
		all[joined(name, f.Name)] = f
	}
	return all
}

// joined returns the path of a field in a component. A component that is no struct has a single
// field without a name.
func joined(component, field string) string {
	if field == "" || field[0] == '[' {
		return component + field
	}
	return component + "." + field
}

// plain converts a value to one that JSON can hold and that shares no memory with the world.
func plain(v any) any {
	r := reflect.ValueOf(v)
	switch {
	case r.Kind() == reflect.Bool:
		return r.Bool()
	case r.CanFloat():
		if f := r.Float(); !math.IsNaN(f) && !math.IsInf(f, 0) {
			return shortest(r)
		}
	case r.CanInt():
		if n := r.Int(); n == int64(float64(n)) && n < 1<<53 && n > -1<<53 {
			return n
		}
	case r.CanUint():
		if n := r.Uint(); n < 1<<53 {
			return n
		}
	}
	return fmt.Sprint(v)
}

// shortest returns a float as its type writes it: 0.1 for float32(0.1).
func shortest(r reflect.Value) any {
	if r.Kind() == reflect.Float32 {
		return float32(r.Float())
	}
	return r.Float()
}

// audience names the groups that receive a field. It returns "" if everybody does.
func (e *end) audience(a schema.Audience) string {
	var names []string
	for i, name := range append([]string{"owner", "allies", "enemies"}, e.internals.Audiences()...) {
		bit := schema.ToOwner << i
		if i >= 3 {
			bit = schema.GameAudience(i - 3)
		}
		if a&bit != 0 {
			names = append(names, name)
		}
	}
	return strings.Join(names, ", ")
}

// Prefab is a prefab of the protocol.
type Prefab struct {
	Name       string   `json:"name"`
	Components []string `json:"components"`
	Notes      []string `json:"notes"` // how clients spawn and predict its entities
}

// Prefabs lists the prefabs of an end's protocol.
func (in *Inspector) Prefabs(name string) ([]Prefab, error) {
	e, err := in.findEnd(name)
	if err != nil {
		return nil, err
	}
	l := e.internals.Layout()
	var out []Prefab
	for i := range l.Prefabs {
		k := &l.Prefabs[i]
		p := Prefab{Name: k.ECS.Name()}
		p.Components = componentNames(l.Types, k.ECS.Mask())
		for note, is := range map[string]bool{
			"a shared physics object: every client predicts it while nobody owns it": k.Common,
			"predicted for other players too":                                        k.RemotePredicted,
			"its owner's client draws it in the past":                                k.Interpolated,
			"clients spawn it ahead of the server":                                   k.Matched(),
			"each client has its own":                                                k.ClientOnly(),
		} {
			if is {
				p.Notes = append(p.Notes, note)
			}
		}
		slices.Sort(p.Notes)
		out = append(out, p)
	}
	slices.SortFunc(out, func(a, b Prefab) int { return cmp.Compare(a.Name, b.Name) })
	return out, nil
}
