package jobs

import "maps"

// kinds are the kinds of jobs, by the integrations that start them.
var kinds = union(computeJobs, dataJobs, eksJobs, emrJobs, modelJobs)

func union(tables ...map[string]*kind) map[string]*kind {
	all := map[string]*kind{}
	for _, t := range tables {
		maps.Copy(all, t)
	}
	return all
}
