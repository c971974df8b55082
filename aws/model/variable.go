package model

import (
	"archive/zip"
	"bufio"
	"fmt"
	"slices"
	"strings"
	"sync"
)

// EndpointVariable is the variable by which the AWS SDKs find the address of a service, by the serviceId of its model:
// "CloudWatch" gives AWS_ENDPOINT_URL_CLOUDWATCH. The rule is botocore's: blanks and hyphens become underscores, letters
// capitals. The names in signatures and hosts (monitoring, events) do not count.
func EndpointVariable(id string) string {
	return "AWS_ENDPOINT_URL_" + strings.ToUpper(strings.NewReplacer(" ", "_", "-", "_").Replace(id))
}

// Signed returns the serviceIds of the services whose signatures, or whose X-Amz-Target without its version, have a
// name: monitoring is that of CloudWatch, rds that of DocDB, Neptune and RDS. It is empty when no service has it. Only
// the heads of the models are read.
func Signed(name string) []string {
	signed, err := heads()
	if err != nil {
		return nil
	}
	return slices.Clone(signed[strings.ToLower(name)])
}

// heads are the serviceIds of all services of the built-in archive by the names in their signatures and targets.
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

// head reads a model no further than its metadata.
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
