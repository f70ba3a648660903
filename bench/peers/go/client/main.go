// controller-runtime's client: client <server.json> <get|create|patch|list> <count> <concurrency>
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strconv"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

type server struct {
	URL   string `json:"url"`
	CA    string `json:"ca"`
	Token string `json:"token"`
}

func must(err error) {
	if err != nil {
		panic(err)
	}
}

func rusage() syscall.Rusage {
	var usage syscall.Rusage
	must(syscall.Getrusage(syscall.RUSAGE_SELF, &usage))
	return usage
}

func cpuMs() float64 {
	usage := rusage()
	at := func(t syscall.Timeval) float64 { return float64(t.Sec)*1000 + float64(t.Usec)/1000 }
	return at(usage.Utime) + at(usage.Stime)
}

// connect makes a client as a manager would, but for two settings: JSON, because that is what all subjects speak here,
// and a mapper that needs no discovery.
func connect(path string) client.Client {
	text, err := os.ReadFile(path)
	must(err)
	var where server
	must(json.Unmarshal(text, &where))
	config := &rest.Config{
		Host:            where.URL,
		BearerToken:     where.Token,
		TLSClientConfig: rest.TLSClientConfig{CAData: []byte(where.CA)},
		QPS:             -1,
	}
	config.ContentType = "application/json"
	config.AcceptContentTypes = "application/json"
	scheme := runtime.NewScheme()
	must(corev1.AddToScheme(scheme))
	mapper := meta.NewDefaultRESTMapper(nil)
	mapper.Add(corev1.SchemeGroupVersion.WithKind("Pod"), meta.RESTScopeNamespace)
	c, err := client.New(config, client.Options{Scheme: scheme, Mapper: mapper})
	must(err)
	return c
}

func newPod(i int) *corev1.Pod {
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Name:      "created-" + strconv.Itoa(i),
			Namespace: "team-000",
			Labels:    map[string]string{"app": "bench", "number": strconv.Itoa(i)},
		},
		Spec: corev1.PodSpec{Containers: []corev1.Container{{
			Name: "main", Image: "registry.example.com/bench:1",
			Env: []corev1.EnvVar{{Name: "LOG_LEVEL", Value: "info"}},
		}}},
	}
}

func main() {
	scenario := os.Args[2]
	count, _ := strconv.Atoi(os.Args[3])
	concurrency, _ := strconv.Atoi(os.Args[4])
	c := connect(os.Args[1])
	ctx := context.Background()
	key := types.NamespacedName{Namespace: "team-000", Name: "pod-0"}
	one := map[string]func(i int) error{
		"get":    func(int) error { return c.Get(ctx, key, &corev1.Pod{}) },
		"create": func(i int) error { return c.Create(ctx, newPod(i)) },
		"patch": func(i int) error {
			pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: key.Namespace, Name: key.Name}}
			body := []byte(`{"metadata":{"labels":{"number":"` + strconv.Itoa(i) + `"}}}`)
			return c.Patch(ctx, pod, client.RawPatch(types.MergePatchType, body))
		},
	}[scenario]

	var ops int
	var start time.Time
	var used float64
	if scenario == "list" {
		must(c.Get(ctx, key, &corev1.Pod{})) // the connection is there already, as in a running program
		start, used = time.Now(), cpuMs()
		list := &corev1.PodList{}
		must(c.List(ctx, list))
		if len(list.Items) != count {
			panic(fmt.Sprintf("%d items, expected %d", len(list.Items), count))
		}
		ops = 1
	} else {
		pass := func(howMany int) {
			var next atomic.Int64
			var group sync.WaitGroup
			for range concurrency {
				group.Go(func() {
					for i := int(next.Add(1)); i <= howMany; i = int(next.Add(1)) {
						must(one(i))
					}
				})
			}
			group.Wait()
		}
		pass(count / 2)
		start, used = time.Now(), cpuMs()
		pass(count)
		ops = count
	}
	wall := float64(time.Since(start).Microseconds()) / 1000
	used = cpuMs() - used
	text, err := json.Marshal(map[string]any{
		"ops": ops, "wallMs": wall, "cpuMs": used, "peakRssMb": float64(rusage().Maxrss) / 1024,
	})
	must(err)
	fmt.Println(string(text))
}
