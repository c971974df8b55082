package model

import (
	"archive/zip"
	"bufio"
	"fmt"
	"slices"
	"strings"
	"sync"
)

// EndpointVariable returns the name of the environment variable in which the AWS SDKs look for the address of a
// service. id is the serviceId of its model: "CloudWatch" gives AWS_ENDPOINT_URL_CLOUDWATCH. As in botocore, blanks
// and hyphens become underscores, and letters capitals. The names in signatures and hosts (monitoring, events) are
// not used.
func EndpointVariable(id string) string {
	return "AWS_ENDPOINT_URL_" + strings.ToUpper(strings.NewReplacer(" ", "_", "-", "_").Replace(id))
}

// Signed returns the serviceIds of the services that use a name in their signatures, or in X-Amz-Target (without
// the version). For example, monitoring gives CloudWatch, and rds gives DocDB, Neptune and RDS. The result is empty
// if no service uses the name. Signed reads only the metadata of the models.
func Signed(name string) []string {
	signed, err := heads()
	if err != nil {
		return nil
	}
	return slices.Clone(signed[strings.ToLower(name)])
}

// heads maps names in signatures and targets to serviceIds, for all services of the built-in archive.
var heads = sync.OnceValues(func() (map[string][]string, error) {
	a, err := builtIn()
	if err != nil {
		return nil, err
	}
	signed := map[string][]string{}
	for _, name := range a.names {
		s, err := head(a.files[name])
		if err != nil {
			return nil, fmt.Errorf("the API model of %s is damaged: %w", name, err)
		}
		target, _, _ := strings.Cut(s.TargetPrefix, "_")
		for _, key := range []string{s.SigningName, s.TargetPrefix, target} {
			key = strings.ToLower(key)
			if key != "" && !slices.Contains(signed[key], s.ID) {
				signed[key] = append(signed[key], s.ID)
			}
		}
	}
	return signed, nil
})

// head reads only the metadata of a model.
func head(f *zip.File) (*Service, error) {
	r, err := f.Open()
	if err != nil {
		return nil, err
	}
	defer func() { _ = r.Close() }()
	line, err := bufio.NewReader(r).ReadString('\n')
	if err != nil {
		return nil, errFormat
	}
	s := &Service{Name: f.Name, exceptions: map[string]string{}}
	return s, s.metadata(strings.TrimSuffix(line, "\n"))
}
