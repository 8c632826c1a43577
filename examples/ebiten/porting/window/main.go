// Window draws the ported game. It is what remains of package before on the client.
//
//	go run ./porting/window -serve                    hosts a match and plays in it
//	go run ./porting/window -join 127.0.0.1:7790      plays in it too
package main

import (
	"context"
	"flag"
	"image/color"
	"log"
	"time"

	"github.com/hajimehoshi/ebiten/v2"

	"github.com/foretick/foretick/client"
	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/examples/ebiten/porting/ship"
	"github.com/foretick/foretick/server"
	"github.com/foretick/foretick/transport/udp"
)

var (
	shipImage = ebiten.NewImage(ship.ShipSize, ship.ShipSize)
	rockImage = ebiten.NewImage(ship.RockSize, ship.RockSize)
	shotImage = ebiten.NewImage(ship.ShotSize, ship.ShotSize)
)

type window struct {
	game   *ship.Game
	client *client.Client
	view   client.View
	drawn  *ecs.Query
}

func main() {
	serve := flag.Bool("serve", false, "host the match too")
	addr := flag.String("join", "127.0.0.1:7790", "the server's address")
	flag.Parse()
	if *serve {
		srv, err := host(*addr) // it listens before the window's own client connects
		if err != nil {
			log.Fatal(err)
		}
		go func() {
			if err := srv.Run(context.Background()); err != nil {
				log.Fatal(err)
			}
		}()
	}
	w, err := newWindow(*addr)
	if err != nil {
		log.Fatal(err)
	}
	ebiten.SetTPS(ebiten.SyncWithFPS) // one Update, and so one Step, for each frame that is drawn
	log.Fatal(ebiten.RunGame(w))
}

func host(addr string) (*server.Server, error) {
	endpoint, err := udp.Listen(addr, udp.Config{})
	if err != nil {
		return nil, err
	}
	return server.New(server.Config{Protocol: new(ship.Game).Protocol(), Transport: endpoint})
}

func newWindow(addr string) (*window, error) {
	endpoint, err := udp.Dial(addr, udp.Config{})
	if err != nil {
		return nil, err
	}
	w := &window{game: &ship.Game{}}
	p := w.game.Protocol()
	w.drawn = p.Query(ecs.With(&w.game.Place))
	w.client, err = client.New(client.Config{
		Protocol: p, Transport: endpoint, Sample: client.Sample(&w.game.Keys, keys),
	})
	if err != nil {
		return nil, err
	}
	return w, nil
}

// keys reads the keyboard, once a frame.
func keys(client.View) ship.Keys {
	return ship.Keys{
		Left: ebiten.IsKeyPressed(ebiten.KeyLeft), Right: ebiten.IsKeyPressed(ebiten.KeyRight),
		Up: ebiten.IsKeyPressed(ebiten.KeyUp), Fire: ebiten.IsKeyPressed(ebiten.KeySpace),
	}
}

func (w *window) Update() error {
	w.view = w.client.Step(time.Now())
	return w.view.Err
}

func (w *window) Draw(screen *ebiten.Image) {
	for _, rows := range w.drawn.All(w.view.World) {
		img, c := shotImage, color.RGBA{255, 255, 255, 255}
		switch {
		case rows.Has(w.game.Ship.ID()):
			img, c = shipImage, color.RGBA{90, 200, 120, 255}
		case rows.Has(w.game.Rock.ID()):
			img, c = rockImage, color.RGBA{120, 120, 120, 255}
		}
		img.Fill(c)
		for i, at := range w.game.Place.Slice(rows) {
			var op ebiten.DrawImageOptions
			op.GeoM.Translate(-float64(img.Bounds().Dx())/2, -float64(img.Bounds().Dy())/2)
			if rows.Has(w.game.Ship.ID()) {
				op.GeoM.Rotate(float64(w.game.Ship.Slice(rows)[i].Angle))
			}
			op.GeoM.Translate(float64(at.X), float64(at.Y))
			screen.DrawImage(img, &op)
		}
	}
}

func (w *window) Layout(int, int) (int, int) { return ship.Width, ship.Height }
