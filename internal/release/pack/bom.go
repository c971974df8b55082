package main

import (
	"bytes"
	"debug/buildinfo"
	"slices"
	"strings"

	"github.com/CycloneDX/cyclonedx-go"
)

// bom writes the modules that are linked into the binaries, for all platforms together, as CycloneDX. They are read from
// the binaries themselves.
func (r *release) bom() error {
	modules := map[string]cyclonedx.Component{}
	toolchain := ""
	for _, p := range r.platforms {
		info, err := buildinfo.ReadFile(p.binary)
		if err != nil {
			return err
		}
		toolchain = strings.TrimPrefix(info.GoVersion, "go")
		for _, m := range info.Deps {
			if m.Replace != nil {
				m = m.Replace
			}
			ref := "pkg:golang/" + m.Path + "@" + m.Version
			modules[ref] = cyclonedx.Component{
				BOMRef: ref, Type: cyclonedx.ComponentTypeLibrary, Name: m.Path, Version: m.Version, PackageURL: ref,
				Properties: &[]cyclonedx.Property{{Name: "go:sum", Value: m.Sum}},
			}
		}
	}
	std := "pkg:golang/std@" + toolchain
	modules[std] = cyclonedx.Component{BOMRef: std, Type: cyclonedx.ComponentTypeLibrary, Name: "std", Version: toolchain, PackageURL: std}
	components := make([]cyclonedx.Component, 0, len(modules))
	for _, c := range modules {
		components = append(components, c)
	}
	slices.SortFunc(components, func(a, b cyclonedx.Component) int { return strings.Compare(a.BOMRef, b.BOMRef) })
	b := cyclonedx.NewBOM()
	b.Metadata = &cyclonedx.Metadata{
		Timestamp: r.time.UTC().Format("2006-01-02T15:04:05Z"),
		Component: &cyclonedx.Component{Type: cyclonedx.ComponentTypeApplication, BOMRef: "stepback", Name: "stepback", Version: r.version},
	}
	b.Components = &components
	var out bytes.Buffer
	if err := cyclonedx.NewBOMEncoder(&out, cyclonedx.BOMFileFormatJSON).SetPretty(true).Encode(b); err != nil {
		return err
	}
	return r.save("stepback-"+r.version+".cdx.json", out.Bytes())
}
