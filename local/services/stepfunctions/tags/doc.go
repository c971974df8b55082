// Package tags implements the operations on the tags of state machines and activities: TagResource, UntagResource and
// ListTagsForResource.
package tags
