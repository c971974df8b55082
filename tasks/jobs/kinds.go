package jobs

import "maps"

// kinds maps the integrations that start jobs to the kinds of jobs.
var kinds = union(computeJobs, dataJobs, eksJobs, emrJobs, modelJobs)

func union(tables ...map[string]*kind) map[string]*kind {
	all := map[string]*kind{}
	for _, t := range tables {
		maps.Copy(all, t)
	}
	return all
}
