// Cubes sends a recorded match of 901 tumbling cubes with package snapshot alone, and
// prints what it costs. Every frame is encoded relative to frames that the receiver is
// known to have, decoded from separate state, and compared value by value.
//
//	go run ./examples/cubes                                  # a generated scene
//	go run ./examples/cubes -data a.bin -train c.bin -json   # recorded ones
//	xz -dc a.bin.xz | go run ./examples/cubes -data - -loss 0.05
package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"log"
	"os"
)

func main() {
	log.SetFlags(0)
	data := flag.String("data", "", "trace to send: a file, or - for standard input; empty: a generated scene")
	train := flag.String("train", "", "trace to train tables on; empty: the built-in tables")
	lag := flag.Int("lag", 6, "frames until a frame's fate is known")
	loss := flag.Float64("loss", 0, "share of frames lost whole, and of acks")
	seed := flag.Uint64("seed", 1, "seed of the losses and of the generated scene")
	count := flag.Int("frames", 600, "frames of the generated scene")
	write := flag.Bool("write", false, "only write the generated scene to standard output as a trace")
	asJSON := flag.Bool("json", false, "print JSON")
	flag.Parse()
	if *write {
		if err := writeTrace(os.Stdout, scene(*seed, *count)); err != nil {
			log.Fatal(err)
		}
		return
	}
	if err := run(os.Stdin, os.Stdout, *data, *train, Options{Lag: *lag, Loss: *loss, Seed: *seed}, *asJSON); err != nil {
		log.Fatal(err)
	}
}

func run(in io.Reader, out io.Writer, data, train string, o Options, asJSON bool) error {
	if o.Lag < 1 || o.Lag > 60 || o.Loss < 0 || o.Loss >= 1 {
		return fmt.Errorf("cubes: -lag must be 1 to 60, and -loss at least 0 and below 1")
	}
	frames, err := open(in, data, o.Seed)
	if err != nil {
		return err
	}
	if train != "" {
		other, err := open(nil, train, 0)
		if err != nil {
			return err
		}
		if o.Tables, err = learn(other, o.Lag); err != nil {
			return err
		}
	}
	res, err := replay(frames, o, nil)
	if err != nil {
		return err
	}
	if asJSON {
		return json.NewEncoder(out).Encode(res)
	}
	_, err = fmt.Fprintf(out, "%d frames, %d verified, %s tables, seed %d: %.1f kbps, %.1f bytes a frame, %.0f µs to encode and %.0f µs to decode one\n",
		res.Frames, res.Verified, res.Tables, res.Seed, res.Kbps, res.BytesPerFrame, res.EncodePerFrame, res.DecodePerFrame)
	return err
}

func open(in io.Reader, name string, seed uint64) ([]Frame, error) {
	switch name {
	case "":
		return scene(seed, 600), nil
	case "-":
		return readTrace(in)
	}
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	return readTrace(f)
}
