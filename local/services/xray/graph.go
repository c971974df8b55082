package xray

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"
	"time"

	"stepback/aws"
	"stepback/aws/server"
)

type graphRequest struct {
	StartTime, EndTime             float64
	GroupName, GroupARN, NextToken string
	TraceIDs                       []string `json:"TraceIds"`
}

type errorCounts struct {
	ThrottleCount, OtherCount, TotalCount int
}

type faultCounts struct {
	OtherCount, TotalCount int
}

// statistics counts calls by how they ended.
type statistics struct {
	OkCount           int
	ErrorStatistics   errorCounts
	FaultStatistics   faultCounts
	TotalCount        int
	TotalResponseTime float64
}

func (s *statistics) add(g *segment) {
	s.TotalCount++
	s.TotalResponseTime += g.duration()
	switch {
	case g.Fault:
		s.FaultStatistics.OtherCount++
		s.FaultStatistics.TotalCount++
	case g.Throttle:
		s.ErrorStatistics.ThrottleCount++
		s.ErrorStatistics.TotalCount++
	case g.Error:
		s.ErrorStatistics.OtherCount++
		s.ErrorStatistics.TotalCount++
	default:
		s.OkCount++
	}
}

type edge struct {
	ReferenceID               int `json:"ReferenceId"`
	StartTime, EndTime        server.Time
	SummaryStatistics         statistics
	ResponseTimeHistogram     []json.RawMessage
	Aliases                   []json.RawMessage
	EdgeType                  string            `json:",omitempty"`
	ReceivedEventAgeHistogram []json.RawMessage `json:",omitempty"`
}

type node struct {
	ReferenceID           int `json:"ReferenceId"`
	Name                  string
	Names                 []string
	Root                  bool
	AccountID             string `json:"AccountId,omitempty"`
	Type                  string `json:",omitempty"`
	State                 string
	StartTime, EndTime    server.Time
	Edges                 []edge
	SummaryStatistics     statistics
	DurationHistogram     []json.RawMessage
	ResponseTimeHistogram []json.RawMessage
}

type graphAnswer struct {
	StartTime, EndTime       server.Time
	Services                 []node
	ContainsOldGroupVersions bool
	NextToken                string `json:",omitempty"`
}

type traceGraphAnswer struct {
	Services  []node
	NextToken string `json:",omitempty"`
}

// serviceKey identifies the service that segments belong to.
type serviceKey struct{ name, kind string }

// graph returns the services in traces, and which service called which.
func graph(traces []*trace) []node {
	nodes := []*node{}
	byKey := map[serviceKey]*node{}
	of := func(g *segment) *node {
		k := serviceKey{g.Name, g.Origin}
		n := byKey[k]
		if n == nil {
			n = &node{
				ReferenceID:           len(nodes),
				Name:                  g.Name,
				Names:                 []string{g.Name},
				AccountID:             g.AWS.AccountID,
				Type:                  g.Origin,
				State:                 "active",
				Edges:                 []edge{},
				DurationHistogram:     []json.RawMessage{},
				ResponseTimeHistogram: []json.RawMessage{},
			}
			byKey[k] = n
			nodes = append(nodes, n)
		}
		return n
	}
	for _, t := range traces {
		owners := map[string]*segment{} // of the IDs of segments and subsegments
		for _, g := range t.segments {
			if g.Type != "subsegment" {
				g.each(func(inner *segment) { owners[inner.ID] = g })
			}
		}
		for _, g := range t.segments { // subsegments sent separately belong to the owner of their parent
			if g.Type == "subsegment" {
				g.each(func(inner *segment) { owners[inner.ID] = owners[g.ParentID] })
			}
		}
		for _, g := range t.segments {
			if g.Type == "subsegment" {
				continue
			}
			n := of(g)
			n.see(g)
			caller := owners[g.ParentID]
			if caller == nil {
				n.Root = n.Root || g.ParentID == ""
				continue
			}
			of(caller).call(n, g)
		}
	}
	out := make([]node, len(nodes))
	for i, n := range nodes {
		slices.SortFunc(n.Edges, func(a, b edge) int { return cmp.Compare(a.ReferenceID, b.ReferenceID) })
		out[i] = *n
	}
	return out
}

// span extends a time range to include a segment.
func span(start, end *server.Time, g *segment) {
	first, last := server.Time(moment(*g.Start)), server.Time(moment(*g.Start+g.duration()))
	if start.IsZero() || time.Time(first).Before(time.Time(*start)) {
		*start = first
	}
	if time.Time(*end).Before(time.Time(last)) {
		*end = last
	}
}

func (n *node) see(g *segment) {
	n.SummaryStatistics.add(g)
	span(&n.StartTime, &n.EndTime, g)
}

func (n *node) call(to *node, g *segment) {
	i := slices.IndexFunc(n.Edges, func(e edge) bool { return e.ReferenceID == to.ReferenceID })
	if i < 0 {
		i = len(n.Edges)
		n.Edges = append(n.Edges, edge{ReferenceID: to.ReferenceID, ResponseTimeHistogram: []json.RawMessage{},
			Aliases: []json.RawMessage{}})
	}
	n.Edges[i].SummaryStatistics.add(g)
	span(&n.Edges[i].StartTime, &n.Edges[i].EndTime, g)
}

func (s *Service) getServiceGraph(_ context.Context, scope aws.Scope, in *graphRequest) (*graphAnswer, error) {
	if in.GroupName != "" && in.GroupName != "Default" || in.GroupARN != "" {
		return nil, invalid("Groups are not served here")
	}
	traces, err := s.between(scope, moment(in.StartTime), moment(in.EndTime))
	return &graphAnswer{
		StartTime: server.Time(moment(in.StartTime)),
		EndTime:   server.Time(moment(in.EndTime)),
		Services:  graph(traces),
	}, err
}

func (s *Service) getTraceGraph(_ context.Context, scope aws.Scope, in *graphRequest) (*traceGraphAnswer, error) {
	traces, err := s.named(scope, in.TraceIDs)
	return &traceGraphAnswer{Services: graph(traces)}, err
}
