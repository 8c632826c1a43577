// Command chaintest plays a small game without a network, and prints what its world has become
// after each 1000 ticks. Programs for different machines must print the same. The game has
// products, roots, angles, random numbers, and entities that come and go.
//
//	go run ./internal/chaintest -ticks 100000
//
// Each line's sum depends on all worlds before it. With -loose one system adds products without
// rounding them, which shows what compilers fuse: machines that do print other sums.
package main

import (
	"flag"
	"fmt"
	"hash/fnv"
	"os"

	"github.com/foretick/foretick/ecs"
)

// link is how many ticks lie between two sums.
const link = 1000

func main() {
	ticks := flag.Int("ticks", 10*link, "how many ticks to play")
	loose := flag.Bool("loose", false, "add products without rounding them")
	flag.Parse()
	if err := play(*ticks, *loose, func(tick int, sum []byte, entities int) { fmt.Printf("%d %x %d\n", tick, sum, entities) }); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// play plays a game, and passes the sum of the world and of all sums before it to say.
func play(ticks int, loose bool, say func(tick int, sum []byte, entities int)) error {
	g, err := newGame(loose)
	if err != nil {
		return err
	}
	w := g.world()
	var sum, bytes []byte
	for tick := 1; tick <= ticks; tick++ {
		g.rules.Execute(w, w)
		if tick%link != 0 {
			continue
		}
		if bytes, err = ecs.Engine(w).AppendWorld(bytes[:0]); err != nil {
			return err
		}
		h := fnv.New128a()
		_, _ = h.Write(sum)
		_, _ = h.Write(bytes)
		sum = h.Sum(nil)
		say(tick, sum, w.Len())
	}
	return nil
}
