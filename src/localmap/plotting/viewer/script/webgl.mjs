// Points drawn by the graphics card (WebGL2).

// What a point is at the moment; passes are drawn in the order of PASSES.
export const NORMAL = 0;
export const FADED = 1; // greyed out by the legend
export const SELECTED = 2;
export const DIMMED = 3; // not selected while others are
export const PASSES = [FADED, DIMMED, NORMAL, SELECTED];

const VERTEX = `#version 300 es
layout(location = 0) in vec2 a_place;
layout(location = 1) in vec2 a_next;
layout(location = 2) in float a_color;
layout(location = 3) in float a_state;
uniform vec4 u_view; // middle of the view, half its width and height
uniform float u_size;
uniform float u_mix;
uniform float u_pass;
uniform sampler2D u_palette;
out vec3 v_color;
void main() {
  if (abs(a_state - u_pass) > 0.5) {
    gl_Position = vec4(2.0, 2.0, 2.0, 1.0);
    gl_PointSize = 0.0;
    return;
  }
  vec2 place = mix(a_place, a_next, u_mix);
  gl_Position = vec4((place - u_view.xy) / u_view.zw, 0.0, 1.0);
  gl_PointSize = u_size;
  v_color = texelFetch(u_palette, ivec2(int(a_color + 0.5), 0), 0).rgb;
}`;

const FRAGMENT = `#version 300 es
precision highp float; // u_size is shared with the other shader
in vec3 v_color;
uniform float u_alpha;
uniform float u_size;
uniform vec4 u_toward; // the colour that faint points are mixed with, and its share
out vec4 color;
void main() {
  float away = length(gl_PointCoord - 0.5) * u_size;
  float cover = u_size < 2.5 ? 1.0 : clamp(0.5 * u_size - away + 0.5, 0.0, 1.0);
  float alpha = u_alpha * cover;
  color = vec4(mix(v_color, u_toward.rgb, u_toward.a) * alpha, alpha);
}`;

// Faint points are mixed with the paper: many transparent ones would add up to full colour.
export function faintness(pass, paper, grey) {
  const mixed = grey.map((part, k) => 0.4 * part + 0.6 * paper[k]);
  if (pass === FADED) return [mixed, 1];
  return [paper, pass === DIMMED ? 0.72 : 0];
}

// Names of WebGL without a graphics card that browsers do not own up to.
const SOFTWARE = /swiftshader|llvmpipe|softpipe|software|basic render/i;

function nameOf(gl) {
  const told = gl.getExtension("WEBGL_debug_renderer_info");
  return String(gl.getParameter(told ? told.UNMASKED_RENDERER_WEBGL : gl.RENDERER));
}

function compile(gl, kind, source) {
  const shader = gl.createShader(kind);
  gl.shaderSource(shader, source);
  gl.compileShader(shader);
  return shader;
}

export class WebglRenderer {
  // Returns null where there is no WebGL2, or where it runs without a graphics card: our
  // own drawing without one is ten times faster. `anyhow` takes it even then.
  static create(canvas, anyhow) {
    const gl = canvas.getContext("webgl2", {
      antialias: false, alpha: false, failIfMajorPerformanceCaveat: !anyhow,
    });
    if (!gl || (!anyhow && SOFTWARE.test(nameOf(gl)))) return null;
    const program = gl.createProgram();
    gl.attachShader(program, compile(gl, gl.VERTEX_SHADER, VERTEX));
    gl.attachShader(program, compile(gl, gl.FRAGMENT_SHADER, FRAGMENT));
    gl.linkProgram(program);
    if (!gl.getProgramParameter(program, gl.LINK_STATUS)) return null;
    return new WebglRenderer(canvas, gl, program);
  }

  constructor(canvas, gl, program) {
    this.name = "WebGL2";
    this.canvas = canvas;
    this.gl = gl;
    this.program = program;
    this.buffers = {};
    this.uniform = {};
    for (const name of ["view", "size", "mix", "pass", "palette", "alpha", "toward"]) {
      this.uniform[name] = gl.getUniformLocation(program, `u_${name}`);
    }
    gl.useProgram(program);
    gl.enable(gl.BLEND);
    gl.blendFunc(gl.ONE, gl.ONE_MINUS_SRC_ALPHA);
    this.texture = gl.createTexture();
  }

  // Give any of places, next, colors and states anew; they stay until given again.
  upload(arrays) {
    const { gl } = this;
    for (const [name, data] of Object.entries(arrays)) {
      this.buffers[name] ??= gl.createBuffer();
      gl.bindBuffer(gl.ARRAY_BUFFER, this.buffers[name]);
      gl.bufferData(gl.ARRAY_BUFFER, data, gl.DYNAMIC_DRAW);
      if (name === "places") this.n = data.length / 2;
    }
  }

  setPalette(rgba) {
    const { gl } = this;
    gl.bindTexture(gl.TEXTURE_2D, this.texture);
    gl.texImage2D(gl.TEXTURE_2D, 0, gl.RGBA, 256, 1, 0, gl.RGBA, gl.UNSIGNED_BYTE, rgba);
    gl.texParameteri(gl.TEXTURE_2D, gl.TEXTURE_MIN_FILTER, gl.NEAREST);
    gl.texParameteri(gl.TEXTURE_2D, gl.TEXTURE_MAG_FILTER, gl.NEAREST);
  }

  draw({ view, size, alpha, every, mix, passes, paper, grey }) {
    const { gl, uniform, canvas } = this;
    gl.viewport(0, 0, canvas.width, canvas.height);
    gl.clearColor(paper[0] / 255, paper[1] / 255, paper[2] / 255, 1);
    gl.clear(gl.COLOR_BUFFER_BIT);
    // Of many points every k-th is drawn while the view moves: neighbours in memory are
    // neighbours on the map, so what is left out is spread evenly.
    this.attribute(0, "places", 2, gl.FLOAT, 8 * every);
    this.attribute(1, mix > 0 ? "next" : "places", 2, gl.FLOAT, 8 * every);
    this.attribute(2, "colors", 1, gl.UNSIGNED_BYTE, every);
    this.attribute(3, "states", 1, gl.UNSIGNED_BYTE, every);
    const half = [view.screenWidth / view.scale / 2, view.screenHeight / view.scale / 2];
    gl.uniform4f(uniform.view, view.x, view.y, half[0], half[1]);
    gl.uniform1f(uniform.mix, mix);
    for (const pass of passes) {
      const [toward, share] = faintness(pass, paper, grey);
      gl.uniform1f(uniform.pass, pass);
      gl.uniform1f(uniform.size, pass === SELECTED ? size * 1.4 : size);
      gl.uniform1f(uniform.alpha, pass === SELECTED ? 1 : alpha);
      gl.uniform4f(uniform.toward, ...toward.map((part) => part / 255), share);
      gl.drawArrays(gl.POINTS, 0, Math.ceil(this.n / every));
    }
  }

  attribute(location, name, parts, kind, stride) {
    const { gl } = this;
    gl.bindBuffer(gl.ARRAY_BUFFER, this.buffers[name]);
    gl.enableVertexAttribArray(location);
    gl.vertexAttribPointer(location, parts, kind, false, stride, 0);
  }

  // Wait until everything is drawn: for measurements.
  finish() {
    this.gl.readPixels(0, 0, 1, 1, this.gl.RGBA, this.gl.UNSIGNED_BYTE, new Uint8Array(4));
  }
}
