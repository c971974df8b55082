// Package docs holds the pages that programs show: the operating guide, which alarms link. The rest of the folder is
// for people.
package docs

import _ "embed"

// Operating is docs/operating.md.
//
//go:embed operating.md
var Operating string
