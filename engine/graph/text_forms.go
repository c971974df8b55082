package graph

import (
	"bufio"
	"fmt"
	"io"
	"strconv"
	"strings"

	"stepback/asl"
)

// Mermaid writes a machine as a Mermaid flowchart, which GitHub and many wikis draw.
func Mermaid(to io.Writer, m *asl.Machine) error {
	w := &former{w: bufio.NewWriter(to)}
	w.w.WriteString("flowchart TD\n")
	w.w.WriteString("  start([Start])\n")
	w.mermaid(&m.Graph, "  ", "finish")
	fmt.Fprintf(w.w, "  start --> %s\n", w.id(&m.Graph, m.StartAt))
	w.w.WriteString("  finish([End])\n")
	return w.w.Flush()
}

// DOT writes a machine in Graphviz's DOT language.
func DOT(to io.Writer, m *asl.Machine) error {
	w := &former{w: bufio.NewWriter(to)}
	w.w.WriteString("digraph {\n  compound=true;\n  node [shape=box, style=rounded, fontname=\"sans-serif\", fontsize=11];\n" +
		"  edge [fontname=\"sans-serif\", fontsize=9];\n  start [label=\"Start\", shape=oval];\n  finish [label=\"End\", shape=oval];\n")
	w.dot(&m.Graph, "  ", "finish")
	fmt.Fprintf(w.w, "  start -> %s%s;\n", w.port(m.State(m.StartAt)), w.cluster(m.State(m.StartAt), "lhead"))
	w.w.WriteString("}\n")
	return w.w.Flush()
}

// former writes a machine as text. It gives states short names, because their own names may contain any characters.
type former struct {
	w   *bufio.Writer
	ids map[*asl.State]string
}

func (f *former) id(g *asl.Graph, name string) string { return f.of(g.State(name)) }

func (f *former) of(s *asl.State) string {
	if s == nil {
		return "missing"
	}
	if f.ids == nil {
		f.ids = map[*asl.State]string{}
	}
	if f.ids[s] == "" {
		f.ids[s] = "s" + strconv.Itoa(len(f.ids)+1)
	}
	return f.ids[s]
}

func inside(s *asl.State) []*asl.Graph {
	if s.Map != nil && s.Map.Processor != nil {
		return []*asl.Graph{s.Map.Processor}
	}
	return s.Branches
}

var mermaidText = strings.NewReplacer(`"`, "#quot;", "\n", " ", "\r", " ", "|", "#124;", "<", "#lt;", ">", "#gt;",
	"&", "#amp;")

func (f *former) mermaid(g *asl.Graph, indent, end string) {
	for _, s := range g.States {
		if boxes := inside(s); len(boxes) > 0 {
			fmt.Fprintf(f.w, "%ssubgraph %s[\"%s\"]\n", indent, f.of(s), mermaidText.Replace(s.Name+" · "+about(s)))
			for _, b := range boxes {
				f.mermaid(b, indent+"  ", "")
			}
			fmt.Fprintf(f.w, "%send\n", indent)
		} else {
			fmt.Fprintf(f.w, "%s%s[\"%s\"]\n", indent, f.of(s), mermaidText.Replace(s.Name))
		}
	}
	for _, s := range g.States {
		for _, t := range transitionsOf(s) {
			to := end
			if t.to != "" {
				to = f.id(g, t.to)
			} else if end == "" {
				continue
			}
			arrow := "-->"
			if t.kind == Catch {
				arrow = "-.->"
			}
			label := t.label
			if t.kind == Catch {
				label = strings.TrimPrefix(t.title, "catches ")
			}
			if label != "" {
				arrow += "|\"" + mermaidText.Replace(clip(label, 40)) + "\"|"
			}
			fmt.Fprintf(f.w, "%s%s %s %s\n", indent, f.of(s), arrow, to)
		}
	}
}

// dotText returns a DOT string literal.
func dotText(s string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`, "\r", " ").Replace(s) + `"`
}

// port returns the node that edges of a state attach to: for a box, a node inside it.
func (f *former) port(s *asl.State) string {
	for s != nil {
		boxes := inside(s)
		if len(boxes) == 0 {
			break
		}
		s = boxes[0].State(boxes[0].StartAt)
	}
	return f.of(s)
}

// cluster returns the attribute that clips an edge at the border of a box.
func (f *former) cluster(s *asl.State, which string) string {
	if s == nil || len(inside(s)) == 0 {
		return ""
	}
	return " [" + which + "=cluster_" + f.of(s) + "]"
}

func (f *former) dot(g *asl.Graph, indent, end string) {
	for _, s := range g.States {
		if boxes := inside(s); len(boxes) > 0 {
			fmt.Fprintf(f.w, "%ssubgraph cluster_%s {\n%s  label=%s;\n", indent, f.of(s), indent,
				dotText(s.Name+" · "+about(s)))
			for _, b := range boxes {
				f.dot(b, indent+"  ", "")
			}
			fmt.Fprintf(f.w, "%s}\n", indent)
		} else {
			fmt.Fprintf(f.w, "%s%s [label=%s];\n", indent, f.of(s), dotText(s.Name))
		}
	}
	for _, s := range g.States {
		for _, t := range transitionsOf(s) {
			attributes := ""
			to := end
			if t.to != "" {
				target := g.State(t.to)
				to = f.port(target)
				if target != nil && len(inside(target)) > 0 {
					attributes += ", lhead=cluster_" + f.of(target)
				}
			} else if end == "" {
				continue
			}
			if len(inside(s)) > 0 {
				attributes += ", ltail=cluster_" + f.of(s)
			}
			if t.kind == Catch {
				attributes += ", style=dashed, color=red"
			}
			if t.label != "" {
				attributes += ", label=" + dotText(clip(t.label, 40))
			}
			if attributes != "" {
				attributes = " [" + strings.TrimPrefix(attributes, ", ") + "]"
			}
			fmt.Fprintf(f.w, "%s%s -> %s%s;\n", indent, f.port(s), to, attributes)
		}
	}
}
