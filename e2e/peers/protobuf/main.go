// Command protobuf asks Go's protobuf serializer about the built-in kinds.
//
//	protobuf generate -kinds kinds.txt -seed 1 -rounds 1   random objects: JSON and bytes, one per line
//	protobuf read                                          bytes on stdin (base64, one per line) as JSON
package main

import (
	"bufio"
	"bytes"
	"encoding/base64"
	"encoding/json"
	"flag"
	"fmt"
	"log"
	"math/rand"
	"os"
	"strings"

	apiextensions "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer/protobuf"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes/scheme"
	apiregistration "k8s.io/kube-aggregator/pkg/apis/apiregistration/v1"
	"sigs.k8s.io/randfill"
)

// sample is one object in both forms.
type sample struct {
	JSON     json.RawMessage `json:"json"`
	Protobuf string          `json:"protobuf"`
	// Event is the frame of a watch that the object comes in, without its length.
	Event string `json:"event,omitempty"`
}

var serializer = protobuf.NewSerializer(scheme.Scheme, scheme.Scheme)
var rawSerializer = protobuf.NewRawSerializer(scheme.Scheme, scheme.Scheme)

func main() {
	log.SetFlags(0)
	must(apiextensions.AddToScheme(scheme.Scheme))
	must(apiregistration.AddToScheme(scheme.Scheme))
	must(metav1.AddMetaToScheme(scheme.Scheme))
	if len(os.Args) < 2 {
		log.Fatal("protobuf generate|read")
	}
	switch os.Args[1] {
	case "generate":
		flags := flag.NewFlagSet("generate", flag.ExitOnError)
		kinds := flags.String("kinds", "", "file with one `apiVersion kind` per line")
		seed := flags.Int64("seed", 1, "seed of the random objects")
		rounds := flags.Int("rounds", 1, "random objects per kind")
		must(flags.Parse(os.Args[2:]))
		generate(*kinds, *seed, *rounds)
	case "read":
		read()
	default:
		log.Fatalf("unknown command %q", os.Args[1])
	}
}

func must(err error) {
	if err != nil {
		log.Fatal(err)
	}
}

func generate(file string, seed int64, rounds int) {
	text, err := os.ReadFile(file)
	must(err)
	source := rand.NewSource(seed)
	filler := newFiller(source)
	out := bufio.NewWriter(os.Stdout)
	encoder := json.NewEncoder(out)
	encoder.SetEscapeHTML(false)
	for _, line := range strings.Split(strings.TrimSpace(string(text)), "\n") {
		apiVersion, kind, _ := strings.Cut(line, " ")
		gvk := schema.FromAPIVersionAndKind(apiVersion, kind)
		for round := 0; round <= rounds; round++ {
			object, err := scheme.Scheme.New(gvk)
			must(err)
			if round > 0 {
				filler.Fill(object)
			}
			object.GetObjectKind().SetGroupVersionKind(gvk)
			must(encoder.Encode(both(object, round == 1)))
		}
	}
	must(out.Flush())
}

func both(object runtime.Object, withEvent bool) sample {
	asJSON, err := json.Marshal(object)
	must(err)
	var asProtobuf bytes.Buffer
	must(serializer.Encode(object, &asProtobuf))
	result := sample{JSON: asJSON, Protobuf: base64.StdEncoding.EncodeToString(asProtobuf.Bytes())}
	if withEvent && asProtobuf.Len() < 300 {
		event := &metav1.WatchEvent{Type: string(watch.Modified), Object: runtime.RawExtension{Raw: asProtobuf.Bytes()}}
		var frame bytes.Buffer
		must(rawSerializer.Encode(event, &frame))
		result.Event = base64.StdEncoding.EncodeToString(frame.Bytes())
	}
	return result
}

// read answers each line of bytes with the JSON of the object, or with the error.
func read() {
	decoder := scheme.Codecs.UniversalDeserializer()
	in := bufio.NewScanner(os.Stdin)
	in.Buffer(nil, 64<<20)
	out := bufio.NewWriter(os.Stdout)
	for in.Scan() {
		data, err := base64.StdEncoding.DecodeString(in.Text())
		must(err)
		object, gvk, err := decoder.Decode(data, nil, nil)
		if err != nil {
			fmt.Fprintf(out, "{\"error\":%q}\n", err.Error())
			continue
		}
		object.GetObjectKind().SetGroupVersionKind(*gvk)
		text, err := json.Marshal(object)
		must(err)
		fmt.Fprintf(out, "%s\n", text)
	}
	must(in.Err())
	must(out.Flush())
}

func newFiller(source rand.Source) *randfill.Filler {
	random := rand.New(source)
	return randfill.New().RandSource(source).NilChance(0.5).NumElements(1, 2).MaxDepth(14).Funcs(
		func(value *metav1.TypeMeta, c randfill.Continue) {
			// Not on the wire: it is in the envelope.
		},
		func(value *metav1.Time, c randfill.Continue) {
			// Never zero: JSON cannot tell a pointer to the zero time from no pointer.
			*value = metav1.Unix(random.Int63n(1<<32), 0)
		},
		func(value *metav1.MicroTime, c randfill.Continue) {
			*value = metav1.NewMicroTime(metav1.Unix(random.Int63n(1<<32), random.Int63n(1000000)*1000).Time)
		},
		func(value *resource.Quantity, c randfill.Continue) {
			texts := []string{"0", "1", "100m", "1Gi", "1500M", "9223372036854775807", "3n", "1e3", "-5"}
			*value = resource.MustParse(texts[random.Intn(len(texts))])
		},
		func(value *intstr.IntOrString, c randfill.Continue) {
			if random.Intn(2) == 0 {
				*value = intstr.FromInt32(random.Int31())
			} else {
				*value = intstr.FromString(c.String(0))
			}
		},
		func(value *runtime.RawExtension, c randfill.Continue) {
			value.Raw = []byte(`{"z":1,"a":{"big":9223372036854775807,"text":"<ä"}}`)
		},
		func(value *metav1.FieldsV1, c randfill.Continue) {
			value.SetRawString(`{"f:metadata":{"f:labels":{".":{},"f:app":{}}}}`)
		},
		func(value *apiextensions.JSON, c randfill.Continue) {
			value.Raw = []byte([]string{`{"b":[1,2.5],"a":null}`, `"text"`, `true`, `[]`}[random.Intn(4)])
		},
		func(value *apiextensions.JSONSchemaPropsOrBool, c randfill.Continue) {
			value.Allows = random.Intn(2) == 0
			if random.Intn(3) == 0 {
				value.Allows = true
				value.Schema = &apiextensions.JSONSchemaProps{Type: "string"}
			}
		},
		func(value *apiextensions.JSONSchemaPropsOrArray, c randfill.Continue) {
			if random.Intn(2) == 0 {
				value.Schema = &apiextensions.JSONSchemaProps{Type: "integer"}
			} else {
				value.JSONSchemas = []apiextensions.JSONSchemaProps{{Type: "object"}, {}}
			}
		},
		func(value *apiextensions.JSONSchemaPropsOrStringArray, c randfill.Continue) {
			if random.Intn(2) == 0 {
				value.Schema = &apiextensions.JSONSchemaProps{ID: "x"}
			} else {
				value.Property = []string{"a", c.String(0)}
			}
		},
	)
}
