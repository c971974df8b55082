package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"strings"
	"time"

	"stepback/retrylab"
	"stepback/retrylab/scenarios"
)

func main() {
	p := flag.String("policy", "none,static,adaptive", "")
	n := flag.Int("seeds", 10, "")
	first := flag.Uint64("first", 1, "")
	j := flag.Bool("json", false, "")
	flag.Parse()
	e := retrylab.Experiment{Seeds: *n, FirstSeed: *first}
	for _, s := range flag.Args() {
		sc, err := scenarios.Open(s)
		if err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
		e.Scenarios = append(e.Scenarios, sc)
	}
	for _, name := range strings.Split(*p, ",") {
		po, err := scenarios.OpenPolicy(name)
		if err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
		e.Policies = append(e.Policies, po)
	}
	start := time.Now()
	r, err := retrylab.Run(context.Background(), e)
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	if *j {
		r.WriteJSON(os.Stdout)
	} else {
		r.WriteTable(os.Stdout)
	}
	fmt.Fprintln(os.Stderr, time.Since(start))
}
