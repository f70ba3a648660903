// The program needs no server: it is its own scene.
import './main.js';
