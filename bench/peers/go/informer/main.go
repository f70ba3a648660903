// client-go's shared informer: informer <dynamic|typed|protobuf|structs> <scenario> <objects> <events> <url>
// As `informer <flavour> encode <list|watch>` it turns pods in JSON into what a server sends of them as protobuf.
package main

import (
	"encoding/json"
	"fmt"
	"os"
	goruntime "runtime"
	"runtime/debug"
	"strconv"
	"strings"
	"syscall"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/dynamic/dynamicinformer"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
)

const firstVersion = 1_000_000_000

func cpuMs() float64 {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		panic(err)
	}
	at := func(t syscall.Timeval) float64 { return float64(t.Sec)*1000 + float64(t.Usec)/1000 }
	return at(usage.Utime) + at(usage.Stime)
}

func residentBytes() float64 {
	for range 4 {
		goruntime.GC()
		debug.FreeOSMemory()
		time.Sleep(150 * time.Millisecond)
	}
	text, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		panic(err)
	}
	pages, err := strconv.ParseFloat(strings.Fields(string(text))[1], 64)
	if err != nil {
		panic(err)
	}
	return pages * float64(os.Getpagesize())
}

func nodeName(obj any) string {
	switch pod := obj.(type) {
	case *corev1.Pod:
		return pod.Spec.NodeName
	case *Workload:
		return pod.Spec.NodeName
	case *unstructured.Unstructured:
		name, _, _ := unstructured.NestedString(pod.Object, "spec", "nodeName")
		return name
	}
	return ""
}

func newInformer(flavour, url string) cache.SharedIndexInformer {
	config := &rest.Config{Host: url, QPS: -1}
	config.ContentType = "application/json"
	config.AcceptContentTypes = "application/json"
	switch flavour {
	case "protobuf":
		config.ContentType = runtime.ContentTypeProtobuf
		config.AcceptContentTypes = runtime.ContentTypeProtobuf
		fallthrough
	case "typed":
		client := kubernetes.NewForConfigOrDie(config)
		return informers.NewSharedInformerFactory(client, 0).Core().V1().Pods().Informer()
	case "structs":
		return newWorkloadInformer(config)
	default:
		client := dynamic.NewForConfigOrDie(config)
		return dynamicinformer.NewDynamicSharedInformerFactory(client, 0).
			ForResource(schema.GroupVersionResource{Version: "v1", Resource: "pods"}).Informer()
	}
}

func main() {
	if os.Args[2] == "encode" {
		encode(os.Args[3])
		return
	}
	flavour, scenario, url := os.Args[1], os.Args[2], os.Args[5]
	objects, _ := strconv.Atoi(os.Args[3])
	events, _ := strconv.Atoi(os.Args[4])
	informer := newInformer(flavour, url)
	if err := informer.AddIndexers(cache.Indexers{"node": func(obj any) ([]string, error) {
		return []string{nodeName(obj)}, nil
	}}); err != nil {
		panic(err)
	}
	last := strconv.Itoa(firstVersion + objects + events)
	finished := make(chan struct{}, 2)
	for range 2 {
		queue := map[string]struct{}{}
		enqueue := func(obj any) {
			key, err := cache.MetaNamespaceKeyFunc(obj)
			if err != nil {
				panic(err)
			}
			queue[key] = struct{}{}
			if accessor, err := meta.Accessor(obj); err == nil && accessor.GetResourceVersion() == last {
				finished <- struct{}{}
			}
		}
		if _, err := informer.AddEventHandler(cache.ResourceEventHandlerFuncs{
			AddFunc:    enqueue,
			UpdateFunc: func(_, obj any) { enqueue(obj) },
			DeleteFunc: enqueue,
		}); err != nil {
			panic(err)
		}
	}
	before := residentBytes()
	stop := make(chan struct{})
	start, used := time.Now(), cpuMs()
	go informer.Run(stop)
	for !informer.HasSynced() {
		time.Sleep(time.Millisecond)
	}
	ops := objects
	if scenario == "watch" {
		ops = events
		start, used = time.Now(), cpuMs()
		<-finished
		<-finished
	}
	wall := float64(time.Since(start).Microseconds()) / 1000
	used = cpuMs() - used
	if held := len(informer.GetStore().ListKeys()); held != objects {
		panic(fmt.Sprintf("%d objects, expected %d", held, objects))
	}
	sample := map[string]any{
		"ops": ops, "wallMs": wall, "cpuMs": used,
		"bytesPerKey": (residentBytes() - before) / float64(objects),
	}
	text, err := json.Marshal(sample)
	if err != nil {
		panic(err)
	}
	fmt.Println(string(text))
	close(stop)
}
