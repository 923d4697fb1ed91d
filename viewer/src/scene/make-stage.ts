import * as THREE from 'three';
import type { Film } from '../film/film';
import type { MakeStage, Stage } from './stage';

/** An empty picture: the first layer of the stage, on which things are put. */
export const makeStage: MakeStage = async (canvas: HTMLCanvasElement, film: Film): Promise<Stage> => {
  const renderer = new THREE.WebGLRenderer({ canvas, antialias: true });
  const draw = () => renderer.render(new THREE.Scene(), new THREE.PerspectiveCamera());
  void film;
  return {
    canvas,
    show: async () => draw(),
    resize: (width, height, ratio) => {
      renderer.setPixelRatio(ratio);
      renderer.setSize(width, height);
    },
    setTheme: (theme) => renderer.setClearColor(theme === 'dark' ? 0x15181c : 0xf6f7f9),
    colourBy: () => undefined,
    setLayer: () => undefined,
    hasLayer: () => false,
    setPaths: () => undefined,
    setArrowScale: () => undefined,
    view: () => undefined,
    camera: () => 'home',
    setCamera: () => undefined,
    orthographic: () => undefined,
    follow: () => undefined,
    zoom: () => undefined,
    orbit: () => undefined,
    pan: () => undefined,
    cut: () => undefined,
    exaggerate: () => undefined,
    pick: () => null,
    highlight: () => undefined,
    facts: () => null,
    measure: () => 0,
    picture: async () => canvas,
    onCamera: () => undefined,
    dispose: () => renderer.dispose(),
  };
};
